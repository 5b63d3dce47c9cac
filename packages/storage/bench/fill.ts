/** Rows made by the database itself, and the sums that belong to them: as many as a month of a busy gateway leaves. */
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

export interface FillOptions {
  rows: number;
  /** Time of the newest row, in ms. */
  end: number;
  days: number;
}

type Target = { mode: 'sqlite'; file: string } | { mode: 'postgresql'; url: string };

const dims = ['access_key', 'key_group', 'model', 'upstream', 'client_protocol', 'upstream_protocol', 'error'];
const sums = 'requests, errors, estimated, unpriced, input, output, cache_read, cache_write, reasoning, cost_micros, duration_ms';
const each = (write: (name: string) => string): string => sums.split(', ').map(write).join(', ');
const summedAs = each((name) => `sum(${name}) as ${name}`);

function statements({ rows, end, days }: FillOptions, mode: Target['mode']): string[] {
  const counter =
    mode === 'sqlite'
      ? `with recursive c(n) as (select 0 union all select n + 1 from c where n < ${rows - 1})`
      : `with c(n) as (select generate_series(0, ${rows - 1})::bigint)`;
  const step = (days * 86_400_000) / rows;
  const yes = mode === 'sqlite' ? '1' : 'true';
  const json = mode === 'sqlite' ? "'[]'" : "'[]'::json";
  const log2 = mode === 'sqlite' ? (of: string) => `log2(${of})` : (of: string) => `log(2, (${of})::numeric)`;
  const bucket = (column: string) => `1 + cast(floor(${log2(column)} * 4) as integer)`;
  const time = `cast(${end} - n * ${step} as bigint)`;
  const failed = 'n % 50 = 0';
  const text = (value: string) => `cast(${value} as text)`;
  const grouped = [...dims, 'currency'].join(', ');
  return [
    `insert into request_stats (id, client_request_id, started_at, authority, access_key, key_group, model, requested_model, upstream, upstream_model_id, client_protocol, upstream_protocol,
      stream, status, error_code, attempts, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, usage_source, cost_micros, currency, queue_ms, ttfb_ms,
      first_content_ms, duration_ms, request_bytes, response_bytes, client_ip, user_agent, session_id, losses)
     ${counter} select 'f-' || n, null, ${time}, 2, 'key-' || (n % 1000), 'group-' || (n % 20), 'model-' || ((n * 7) % 24), 'model-' || ((n * 7) % 24), 'upstream-' || (n % 6), 'vendor-model',
      'alpha', 'beta', ${yes}, case when ${failed} then 502 else 200 end, case when ${failed} then 'upstream_failed' end, ${json}, 100 + n % 4000, n % 900, n % 2000, 0, 0, 'upstream', n % 977, 'USD',
      1, 20 + n % 700, 40 + n % 900, 50 + (n * 37) % 9000, 2000, 4000, '10.0.0.1', 'bench', case when n % 3 = 0 then 'session-' || (n % 500) end, ${json} from c`,
    `create table bench_full as select started_at / 3600000 * 3600000 as start, access_key, key_group, model, upstream, client_protocol, upstream_protocol, coalesce(error_code, '') as error, currency,
      count(*) as requests, sum(case when error_code is null then 0 else 1 end) as errors, 0 as estimated, 0 as unpriced, sum(input_tokens) as input, sum(output_tokens) as output,
      sum(cache_read_tokens) as cache_read, 0 as cache_write, 0 as reasoning, sum(cost_micros) as cost_micros, sum(duration_ms) as duration_ms from request_stats group by 1, 2, 3, 4, 5, 6, 7, 8, 9`,
    `create table bench_times as select started_at / 3600000 * 3600000 as start, access_key, key_group, model, upstream, client_protocol, upstream_protocol, coalesce(error_code, '') as error, currency,
      ${bucket('duration_ms')} as bucket, count(*) as count from request_stats group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`,
    ...['all', ...dims, 'full'].flatMap((scope) => {
      const value = (name: string) => (scope === 'full' || scope === name ? name : "''");
      const keyOf = (table: string) =>
        `'bench ${scope} ' || ${[...dims, 'currency'].map((name) => (name === 'currency' || value(name) !== "''" ? `${table}${name}` : "''")).join(" || ' ' || ")}`;
      const make = `insert into stat_series (key, scope, ${grouped}) select distinct ${keyOf('')}, '${scope}', ${dims.map((name) => text(value(name))).join(', ')}, currency from bench_full`;
      const grains = [
        ['1', 'start'],
        ['2', 'start / 86400000 * 86400000'],
      ] as const;
      return [
        make,
        ...grains.flatMap(([grain, start]) => [
          `insert into stat_sums (series, grain, start, ${sums}, duration_counts)
            select series, ${grain}, at, ${each((name) => `s.${name}`)}, counts
            from (select d.id as series, ${start} as at, ${summedAs} from bench_full b join stat_series d on d.key = ${keyOf('b.')} group by 1, 2) s
            join (select series, at, string_agg(bucket || ':' || count, ' ') as counts from
              (select d.id as series, ${start} as at, bucket, sum(count) as count from bench_times b join stat_series d on d.key = ${keyOf('b.')} group by 1, 2, 3) t group by 1, 2) l
            using (series, at) order by at, series`,
        ]),
      ];
    }),
    'drop table bench_full',
    'drop table bench_times',
    `insert into stat_sessions (session_id, access_key, currency, first_at, last_at, ${sums}) select session_id, access_key, currency, min(started_at), max(started_at), count(*), 0, 0, 0, sum(input_tokens), sum(output_tokens), 0, 0, 0, sum(cost_micros), sum(duration_ms) from request_stats where session_id is not null group by 1, 2, 3`,
    ...(mode === 'sqlite' ? ['update stat_counted set row_number = (select max(rowid) from request_stats)', 'pragma wal_checkpoint(truncate)'] : ['analyze']),
  ];
}

export async function fill(target: Target, options: FillOptions): Promise<void> {
  const list = statements(options, target.mode);
  if (target.mode === 'sqlite') {
    const db = new DatabaseSync(target.file);
    for (const one of list) db.exec(one);
    db.close();
    return;
  }
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  for (const one of list) await client.query(one);
  await client.end();
}
