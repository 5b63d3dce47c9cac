/** The one author of a request row's columns: a column that is added to `RequestRow` gets its value for "nothing known" here. */
import type { RequestRow } from './row.ts';

const maxPathLength = 2_048;

/** Method and path of a request as a row holds them; `path` is without a query. */
export const pathOfRow = (method: string | undefined, path: string): string => `${method ?? 'POST'} ${path}`.slice(0, maxPathLength);

/** A key, or most of one, of the gateway's own or brought along from another: callers put theirs into the wrong field of a form, or make it the name of their session. */
const accessKey = /(?<![0-9A-Za-z])(?:gk-[0-9A-Za-z]{24,}|sk-[0-9A-Za-z_-]{20,})/g;

/** Rows are read by those who may not see keys. */
const withoutKeys = (text: string | null | undefined): string | null =>
  text?.includes('k-') ? text.replace(accessKey, (key) => `${key.slice(0, 3)}[redacted]`) : (text ?? null);

type Known = Partial<RequestRow> & Pick<RequestRow, 'id' | 'started_at' | 'authority' | 'status'>;

/**
 * A row in which whatever `known` leaves out is null, 0 or empty: nothing was sent, read, written, measured or priced. What callers wrote is without
 * access keys. Column by column, since each request makes a row: a spread over the values for "nothing known" takes the engine ten times as long.
 */
export function newRequestRow(known: Known): RequestRow {
  return {
    id: known.id,
    client_request_id: withoutKeys(known.client_request_id),
    started_at: known.started_at,
    authority: known.authority,
    access_key: known.access_key ?? null,
    key_group: known.key_group ?? null,
    model: known.model ?? null,
    requested_model: withoutKeys(known.requested_model),
    upstream: known.upstream ?? null,
    upstream_model_id: known.upstream_model_id ?? null,
    client_protocol: known.client_protocol ?? null,
    upstream_protocol: known.upstream_protocol ?? null,
    stream: known.stream ?? false,
    status: known.status,
    error_code: known.error_code ?? null,
    attempts: known.attempts ?? [],
    input_tokens: known.input_tokens ?? 0,
    output_tokens: known.output_tokens ?? 0,
    cache_read_tokens: known.cache_read_tokens ?? 0,
    cache_write_tokens: known.cache_write_tokens ?? 0,
    cache_write_1h_tokens: known.cache_write_1h_tokens ?? 0,
    reasoning_tokens: known.reasoning_tokens ?? 0,
    usage_source: known.usage_source ?? null,
    cost_micros: known.cost_micros ?? null,
    currency: known.currency ?? null,
    queue_ms: known.queue_ms ?? null,
    ttfb_ms: known.ttfb_ms ?? null,
    first_content_ms: known.first_content_ms ?? null,
    duration_ms: known.duration_ms ?? 0,
    request_bytes: known.request_bytes ?? 0,
    response_bytes: known.response_bytes ?? 0,
    client_ip: known.client_ip ?? null,
    user_agent: withoutKeys(known.user_agent),
    session_id: withoutKeys(known.session_id),
    losses: known.losses ?? [],
    pipeline: known.pipeline ?? [],
    routes: known.routes ?? [],
    ending: known.ending ?? null,
    kind: known.kind ?? 'call',
    of: known.of ?? null,
    audio_input_tokens: known.audio_input_tokens ?? 0,
    audio_output_tokens: known.audio_output_tokens ?? 0,
    image_input_tokens: known.image_input_tokens ?? 0,
    image_output_tokens: known.image_output_tokens ?? 0,
    helpers: known.helpers ?? [],
    turn_id: known.turn_id ?? null,
    path: withoutKeys(known.path),
    images: known.images ?? null,
    seconds: known.seconds ?? null,
    characters: known.characters ?? null,
    service_tier: known.service_tier ?? null,
  };
}
