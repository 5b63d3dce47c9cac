/** Answers about stored turns: what requests kept so that later ones can go on from them. */
import type { TurnStatus } from '@model-gateway/contracts';
import { z } from 'zod';
import { anything, count, instant, maybeText, micros, money, text } from './common.ts';

const turnStatuses = ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] as const satisfies readonly TurnStatus[];

const turn = z.strictObject({
  id: text,
  /** The turn that it goes on from; null: the first. */
  parent: maybeText,
  conversation: maybeText,
  /** The name that the caller used. */
  model: text,
  status: z.enum(turnStatuses),
  created_at: instant,
  background: z.boolean(),
  /** Name of the upstream that keeps its content; null: the gateway does. */
  upstream: maybeText,
  /** Its content was deleted: what is left is its place in the chain. */
  deleted: z.boolean(),
  request_id: text,
  /** null: the row is no longer there, or not yet. */
  request: z
    .strictObject({
      status: z.int(),
      error_code: maybeText,
      input_tokens: count,
      output_tokens: count,
      cache_read_tokens: count,
      cache_write_tokens: count,
      reasoning_tokens: count,
      cost: money.nullable(),
      cost_micros: micros.nullable(),
      currency: maybeText,
      duration_ms: count,
    })
    .nullable(),
});

/** The nearest first. */
export const turnChain = z.strictObject({
  items: z.array(turn),
  /** The chain is longer than what is shown. */
  has_more: z.boolean(),
  /** Whose turns they are; null: no access key of today. */
  access_key: maybeText,
  /** Whether admins may read what they hold: the key's group stores bodies. */
  readable: z.boolean(),
});

export const turnContent = z.strictObject({ id: text, access_key: text, input: anything, response: anything });
