/** Rows of requests as a table. */
import { printMoney, type RequestRow } from '@model-gateway/contracts';
import { isoTime } from '../api/answers/iso-time.ts';
import { csvLine } from './csv.ts';

const columns = [
  'id',
  'client_request_id',
  'access_key',
  'key_group',
  'session_id',
  'model',
  'requested_model',
  'upstream',
  'upstream_model_id',
  'client_protocol',
  'upstream_protocol',
  'stream',
  'status',
  'error_code',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'usage_source',
  'currency',
  'queue_ms',
  'ttfb_ms',
  'first_content_ms',
  'duration_ms',
  'request_bytes',
  'response_bytes',
  'client_ip',
  'user_agent',
  'kind',
  'of',
  'audio_input_tokens',
  'audio_output_tokens',
  'image_input_tokens',
  'image_output_tokens',
  'turn_id',
  'path',
  'images',
  'seconds',
  'characters',
  'cache_write_1h_tokens',
  'service_tier',
] as const satisfies readonly (keyof RequestRow)[];

export const rowTableHead = csvLine(['started_at', ...columns, 'cost', 'attempts', 'losses']);

export const rowTableLine = (row: RequestRow): string =>
  csvLine([
    isoTime(row.started_at),
    ...columns.map((name) => row[name] ?? null),
    row.cost_micros === null ? null : { decimal: printMoney(row.cost_micros) },
    row.attempts.length,
    row.losses.length,
  ]);
