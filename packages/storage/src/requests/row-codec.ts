/** Converts rows of `request_stats` to and from columns. Text from outside is cut and cleaned here, so that no single row can fail a batch. */
import type { RequestRow } from '@model-gateway/contracts';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { RequestColumns } from '../schema.ts';
import { cleanText } from './clean-text.ts';

export type Kind = 'text' | 'integer' | 'boolean' | 'json';

/** The order is that of the table; the compiler demands that it is complete. */
export const columnKinds = {
  id: 'text',
  client_request_id: 'text',
  started_at: 'integer',
  authority: 'integer',
  access_key: 'text',
  key_group: 'text',
  model: 'text',
  requested_model: 'text',
  upstream: 'text',
  upstream_model_id: 'text',
  client_protocol: 'text',
  upstream_protocol: 'text',
  stream: 'boolean',
  status: 'integer',
  error_code: 'text',
  attempts: 'json',
  input_tokens: 'integer',
  output_tokens: 'integer',
  cache_read_tokens: 'integer',
  cache_write_tokens: 'integer',
  cache_write_1h_tokens: 'integer',
  reasoning_tokens: 'integer',
  usage_source: 'text',
  cost_micros: 'integer',
  currency: 'text',
  queue_ms: 'integer',
  ttfb_ms: 'integer',
  first_content_ms: 'integer',
  duration_ms: 'integer',
  request_bytes: 'integer',
  response_bytes: 'integer',
  client_ip: 'text',
  user_agent: 'text',
  session_id: 'text',
  losses: 'json',
  pipeline: 'json',
  routes: 'json',
  ending: 'text',
  kind: 'text',
  of: 'text',
  audio_input_tokens: 'integer',
  audio_output_tokens: 'integer',
  image_input_tokens: 'integer',
  image_output_tokens: 'integer',
  helpers: 'json',
  turn_id: 'text',
  path: 'text',
  images: 'integer',
  seconds: 'integer',
  characters: 'integer',
  service_tier: 'text',
} as const satisfies Record<keyof RequestRow, Kind>;

export const columnNames = Object.keys(columnKinds) as (keyof RequestRow)[];

interface Stored {
  text: string | null;
  integer: number | null;
  /** In the dialect's own form. */
  boolean: unknown;
  /** JSON text. */
  json: string;
}

/** A row as the database has it, clean and within bounds: what is written and what is added up. */
export type StoredRow = { [N in keyof RequestRow]: Stored[(typeof columnKinds)[N]] } & { id: string; started_at: number; authority: number };

type Codec = { encode(value: unknown, dialect: StorageDialect): unknown; decode(value: unknown): unknown };

const emptyList = '[]';
export const jsonText = (value: unknown): string =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0) ? emptyList : JSON.stringify(value);

const codecs: Record<Kind, Codec> = {
  text: { encode: (value) => (value === null || value === undefined ? null : cleanText(String(value))), decode: (value) => value },
  integer: { encode: (value) => (typeof value === 'number' && Number.isFinite(value) ? clampInteger(value) : null), decode: (value) => value },
  boolean: { encode: (value, dialect) => dialect.encodeBoolean(value === true), decode: Boolean },
  json: { encode: (value) => cleanText(jsonText(value), Number.POSITIVE_INFINITY), decode: (value) => JSON.parse(String(value)) },
};

export const clampInteger = (value: number): number => Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.round(value)));

/** Values of non-null columns that a row lacks. */
export const absent: Partial<Record<keyof RequestRow, unknown>> = {
  kind: 'call',
  audio_input_tokens: 0,
  audio_output_tokens: 0,
  image_input_tokens: 0,
  image_output_tokens: 0,
};

export function encodeRow(row: RequestRow, dialect: StorageDialect): StoredRow {
  const columns: Record<string, unknown> = {};
  for (const name of columnNames) columns[name] = codecs[columnKinds[name]].encode(row[name] ?? absent[name], dialect);
  return columns as StoredRow;
}

export function decodeRow(columns: StoredRow | RequestColumns): RequestRow {
  const row: Record<string, unknown> = {};
  for (const name of columnNames) row[name] = codecs[columnKinds[name]].decode(columns[name]);
  // Rows written before the column existed have none.
  row['cache_write_1h_tokens'] ??= 0;
  return row as unknown as RequestRow;
}
