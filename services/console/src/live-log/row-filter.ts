/** Whether a row is one of those that were asked for: what the database does for the list, done for one row. */
import type { RequestRow } from '@model-gateway/contracts';
import { type RequestFilters, searchedColumns } from '@model-gateway/storage';

const tests: { [F in keyof RequestFilters]-?: (row: RequestRow, value: NonNullable<RequestFilters[F]>) => boolean } = {
  requestId: (row, value) => row.id === value || row.client_request_id === value,
  accessKey: (row, value) => row.access_key === value,
  accessKeys: (row, value) => row.access_key !== null && value.includes(row.access_key),
  keyGroup: (row, value) => row.key_group === value,
  model: (row, value) => row.model === value,
  upstream: (row, value) => row.upstream === value || row.attempts.some(({ upstream }) => upstream === value),
  status: (row, value) => row.status === value,
  errorCode: (row, value) => row.error_code === value,
  stream: (row, value) => row.stream === value,
  clientProtocol: (row, value) => row.client_protocol === value,
  upstreamProtocol: (row, value) => row.upstream_protocol === value,
  sessionId: (row, value) => row.session_id === value,
  failed: (row, value) => (row.error_code !== null) === value,
  minDurationMs: (row, value) => row.duration_ms >= value,
  search: (row, value) => searchedColumns.some((name) => row[name]?.toLowerCase().includes(value.toLowerCase())),
  from: (row, value) => row.started_at >= value,
  to: (row, value) => row.started_at < value,
};

export function createRowFilter(filters: RequestFilters): (row: RequestRow) => boolean {
  const asked = (Object.keys(tests) as (keyof RequestFilters)[]).filter((name) => filters[name] !== undefined);
  return (row) => asked.every((name) => (tests[name] as (row: RequestRow, value: unknown) => boolean)(row, filters[name]));
}
