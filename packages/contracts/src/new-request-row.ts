/** The one author of a request row's columns: a column that is added to `RequestRow` gets its value for "nothing known" here. */
import type { RequestRow } from './row.ts';

type Known = Partial<RequestRow> & Pick<RequestRow, 'id' | 'started_at' | 'authority' | 'status'>;

/** A row in which whatever `known` leaves out is null, 0 or empty: nothing was sent, read, written, measured or priced. */
export function newRequestRow(known: Known): RequestRow {
  return {
    client_request_id: null,
    access_key: null,
    key_group: null,
    model: null,
    requested_model: null,
    upstream: null,
    upstream_model_id: null,
    client_protocol: null,
    upstream_protocol: null,
    stream: false,
    error_code: null,
    attempts: [],
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    cache_write_1h_tokens: 0,
    reasoning_tokens: 0,
    usage_source: null,
    cost_micros: null,
    currency: null,
    queue_ms: null,
    ttfb_ms: null,
    first_content_ms: null,
    duration_ms: 0,
    request_bytes: 0,
    response_bytes: 0,
    client_ip: null,
    user_agent: null,
    session_id: null,
    losses: [],
    pipeline: [],
    ending: null,
    routes: [],
    kind: 'call',
    of: null,
    audio_input_tokens: 0,
    audio_output_tokens: 0,
    turn_id: null,
    ...known,
  };
}
