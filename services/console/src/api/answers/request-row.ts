/** One finished request, as logs show it. */
import { protocolIds, type RequestRow, rowKinds } from '@model-gateway/contracts';
import { z } from 'zod';
import type { Failure } from '../../failures/explain-failure.ts';
import { faults } from '../../failures/fault-of.ts';
import { count, epochMs, loss, maybeCount, maybeText, micros, money, text } from './common.ts';

const protocol = z.enum(protocolIds).nullable();

const columns = {
  id: text,
  client_request_id: maybeText,
  started_at: epochMs,
  authority: z.union([z.literal(1), z.literal(2)]),
  access_key: maybeText,
  key_group: maybeText,
  model: maybeText,
  requested_model: maybeText,
  upstream: maybeText,
  upstream_model_id: maybeText,
  client_protocol: protocol,
  upstream_protocol: protocol,
  stream: z.boolean(),
  status: z.int(),
  error_code: maybeText,
  attempts: z.array(
    z.strictObject({
      upstream: text,
      key_index: z.int(),
      status: z.int().nullable(),
      error_code: maybeText,
      duration_ms: z.number(),
      model: text.optional(),
      key: text.optional(),
      /** The upstream's own words for what went wrong, where one request is asked for. */
      message: text.optional(),
    }),
  ),
  input_tokens: count,
  output_tokens: count,
  cache_read_tokens: count,
  cache_write_tokens: count,
  cache_write_1h_tokens: count,
  reasoning_tokens: count,
  usage_source: z.enum(['upstream', 'partial', 'estimated']).nullable(),
  cost: money.nullable(),
  cost_micros: micros.nullable(),
  currency: maybeText,
  queue_ms: maybeCount,
  ttfb_ms: maybeCount,
  first_content_ms: maybeCount,
  duration_ms: count,
  request_bytes: count,
  response_bytes: count,
  client_ip: maybeText,
  user_agent: maybeText,
  session_id: maybeText,
  losses: z.array(loss),
  pipeline: z.array(text),
  routes: z.array(text),
  /** How a stream that broke after its first bytes was ended. */
  ending: z.enum(['finish', 'break']).nullable(),
  /** `realtime_session` and `orphan` are not requests: statistics add up their money and time alone. */
  kind: z.enum(rowKinds),
  /** Of an orphan: the request that was refused. */
  of: maybeText,
  audio_input_tokens: count,
  audio_output_tokens: count,
  /** Of `input_tokens` and `output_tokens`. */
  image_input_tokens: count,
  image_output_tokens: count,
  /** Models that helped the one that answered; their tokens are among the row's. */
  helpers: z.array(z.strictObject({ model: text, input: count, output: count, reasoning: count })),
  /** The stored turn that the request made; `turns/{id}/chain` has what it goes on from. */
  turn_id: maybeText,
  /** Of a call in an upstream's own terms: `POST /v3/…`, without its query. */
  path: maybeText,
  /** What is priced by the piece: images made, whole seconds of sound or film, characters read aloud. */
  images: maybeCount,
  seconds: maybeCount,
  characters: maybeCount,
  /** The tier that served it, in the upstream's word; null: its standard one, or it did not say. Prices go by it. */
  service_tier: maybeText,
} as const;

/** A row with its cost as people read it. */
export type ShownRow = RequestRow & { cost: string | null };

export const requestRow: z.ZodType<ShownRow> = z.strictObject(columns);
/** One that was asked for by its id. */
export const requestDetails: z.ZodType<ShownRow & { has_bodies: boolean; failure: Failure | null }> = z.strictObject({
  ...columns,
  has_bodies: z.boolean(),
  /** Why it failed; null: it did not. */
  failure: z
    .strictObject({
      fault: z.enum(faults).describe('Who has to do something about it'),
      upstream: maybeText.describe('The upstream that failed last; null: none was asked'),
      said: maybeText.describe('What that upstream said'),
      recent: z
        .strictObject({
          from: epochMs,
          to: epochMs,
          requests: count,
          or_more: z.boolean().describe('There were more than are counted'),
          upstreams: z.array(z.strictObject({ upstream: maybeText, requests: count })),
        })
        .describe('Requests of the last hour that ended with the same error code'),
    })
    .nullable(),
});
