/** One row per finished request. The key starts with the time, as a table partitioned by time needs. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

const textColumns = [
  'client_request_id',
  'access_key',
  'key_group',
  'model',
  'requested_model',
  'upstream',
  'upstream_model_id',
  'client_protocol',
  'upstream_protocol',
  'error_code',
  'usage_source',
  'currency',
  'client_ip',
  'user_agent',
  'session_id',
];
const requiredIntegers = [
  'authority',
  'status',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'duration_ms',
  'request_bytes',
  'response_bytes',
];
const optionalIntegers = ['cost_micros', 'queue_ms', 'ttfb_ms', 'first_content_ms'];

const indexes = {
  request_stats_id: 'id',
  // Most callers send none: their rows need no entry.
  request_stats_client_request_id: 'client_request_id) where (client_request_id is not null',
  request_stats_access_key: 'access_key, started_at',
  request_stats_model: 'model, started_at',
};

export const requestTable = ({ text, integer, boolean, json }: StorageDialect['types']): Migration => ({
  async up(db) {
    const columns = [
      `id ${text} not null`,
      `started_at ${integer} not null`,
      ...textColumns.map((name) => `${name} ${text}`),
      ...requiredIntegers.map((name) => `${name} ${integer} not null`),
      ...optionalIntegers.map((name) => `${name} ${integer}`),
      `stream ${boolean} not null`,
      `attempts ${json} not null`,
      `losses ${json} not null`,
      'primary key (started_at, id)',
    ];
    await sql.raw(`create table if not exists request_stats (${columns.join(', ')})`).execute(db);
    for (const [name, on] of Object.entries(indexes)) {
      await sql.raw(`create index if not exists ${name} on request_stats (${on})`).execute(db);
    }
  },
});
