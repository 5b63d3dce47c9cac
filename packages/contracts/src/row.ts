import type { BrokenEnding } from './entities/on-break.ts';
import type { Loss } from './loss.ts';
import type { ProtocolId } from './protocol-id.ts';
import type { HelperUsage, UsageSource } from './usage.ts';

/** Error code of an attempt that asked an upstream for a count of tokens, which it does not give. */
export const withoutCounter = 'no_count';
/** Error code of an attempt at a path that its caller chose, and that the upstream does not have, or not for this method. */
export const withoutPath = 'no_such_path';

/** One try at an upstream, as the row lists it. */
export interface AttemptRecord {
  upstream: string;
  key_index: number;
  status: number | null;
  error_code: string | null;
  duration_ms: number;
  /** Canonical name of the model that was asked, and the stable id of the key entry (''; the upstream has none). Absent in rows of earlier versions. */
  model?: string;
  key?: string;
  /** The upstream's own words for what went wrong: bounded, without credentials, and sealed (`sealedAs.attemptMessage`) wherever it is not shown. */
  message?: string;
}

/**
 * Kind of a row. `call`, `realtime_turn`, `task` and `mcp_call` are requests; `realtime_session` (a whole connection) and `orphan` (work done for a
 * request that had already been refused) are not: only their cost and duration are added to the statistics.
 */
export const rowKinds = ['call', 'realtime_turn', 'realtime_session', 'task', 'mcp_call', 'orphan'] as const;
export type RowKind = (typeof rowKinds)[number];

/** One finished request: a row of `request_stats` and of `GET /console/api/logs`. Times in ms, money in micro-units. */
export interface RequestRow {
  id: string;
  client_request_id: string | null;
  /** Milliseconds since the epoch; with `id` the key of the row. */
  started_at: number;
  /**
   * Author of the row: translator 2, edge 1. The translator's row completes the edge's, which alone knows what the caller saw of a request that was cut
   * short. Where the edge had answered its caller 503 or 504, that row
   * stays, and what ran nevertheless becomes a second row, an `orphan`.
   */
  authority: 1 | 2;
  access_key: string | null;
  key_group: string | null;
  /** Canonical name; null when the name was never resolved. */
  model: string | null;
  requested_model: string | null;
  upstream: string | null;
  upstream_model_id: string | null;
  client_protocol: ProtocolId | null;
  upstream_protocol: ProtocolId | null;
  stream: boolean;
  /** The status the caller saw; 499 when the caller had disconnected. A stream that broke after its 200 keeps 200 and has an error_code. */
  status: number;
  error_code: string | null;
  attempts: AttemptRecord[];
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  /** The part of `cache_write_tokens` written with a lifetime of one hour, which costs more. */
  cache_write_1h_tokens: number;
  reasoning_tokens: number;
  usage_source: UsageSource | null;
  cost_micros: number | null;
  currency: string | null;
  queue_ms: number | null;
  ttfb_ms: number | null;
  first_content_ms: number | null;
  duration_ms: number;
  request_bytes: number;
  response_bytes: number;
  client_ip: string | null;
  user_agent: string | null;
  session_id: string | null;
  losses: Loss[];
  /** Steps of the request's preparation that changed or rerouted it, in order. */
  pipeline: string[];
  /** How a stream that broke after its first bytes was ended; null: it did not break. */
  ending: BrokenEnding | null;
  /** The reroutes: canonical names from the requested to the serving model; empty without any. */
  routes: string[];
  kind: RowKind;
  /** Of an orphan: the id of the refused request. */
  of: string | null;
  /** Audio tokens, which are not part of `input_tokens` and `output_tokens`. */
  audio_input_tokens: number;
  audio_output_tokens: number;
  /** Of `input_tokens` and `output_tokens`: those of images, where the upstream tells them apart. */
  image_input_tokens: number;
  image_output_tokens: number;
  /** Models that helped the one that answered: their tokens are among the row's. */
  helpers: HelperUsage[];
  /** Method and path of a call in an upstream's own terms (`POST /v3/…`), without its query and cut at 2,048 characters; null: the protocol says it. */
  path: string | null;
  /** Id of the stored turn that the request made; null: nothing of it is stored. */
  turn_id: string | null;
  /** What is priced by the piece: images made, whole seconds of sound or film, characters read aloud. null: nobody counted any. */
  images: number | null;
  seconds: number | null;
  characters: number | null;
  /** The tier that served it, in the upstream's word (`flex`, `priority`); null: its standard one, or it did not say. */
  service_tier: string | null;
}
