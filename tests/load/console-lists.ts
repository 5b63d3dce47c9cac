/**
 * How fast every list of the console answers at scale, on PostgreSQL: `node tests/load/console-lists.ts [keys] [rows] [url]`, 20,000 and 10,000,000 by
 * default. The database is filled inside the server (`generate_series`), partitions before their indexes; then each list is asked for ten times, and the
 * median held against 200 ms. Exits with 1 when one misses. With the address of a database, that one is used, and filled only where it has no rows yet.
 */
import { openStorage } from '@model-gateway/storage';
import pg from 'pg';
import { sampleGroup, sampleKey } from '../../packages/storage/test/samples.ts';
import { api, type Harness, startConsole } from '../../services/console/test/harness.ts';
import { openTestPostgres } from '../support/postgres.ts';

const keys = Number(process.argv[2] ?? 20_000);
const rows = Number(process.argv[3] ?? 10_000_000);
const [groups, models, upstreams, sessions] = [20, 30, 12, 50_000] as const;
const days = 30;
const dayMs = 86_400_000;
const limitMs = 200;
const rounds = 10;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const quiet = { info: () => undefined, warn: () => undefined };

/** What a row of number `i` says; the columns that it does not name are filled by their type. */
const said: Readonly<Record<string, string>> = {
  id: "'r' || lpad(i::text, 12, '0')",
  access_key: `'key-' || (i * 7919 % ${keys})`,
  key_group: `'group-' || (i * 7919 % ${keys} % ${groups})`,
  model: `'model-' || (i % ${models})`,
  requested_model: `'model-' || (i % ${models})`,
  upstream: `'upstream-' || (i % ${models} % ${upstreams})`,
  upstream_model_id: `'id-' || (i % ${models})`,
  client_protocol: "'alpha'",
  upstream_protocol: "'alpha'",
  status: 'case when i % 50 = 0 then 500 else 200 end',
  error_code: "case when i % 50 = 0 then 'upstream_failed' end",
  input_tokens: '1000 + i % 500',
  output_tokens: '200 + i % 90',
  cost_micros: '3000 + i % 700',
  currency: "'USD'",
  duration_ms: '300 + i % 2000',
  usage_source: "'upstream'",
  session_id: `case when i % 4 = 0 then 'session-' || (i / 4 % ${sessions}) end`,
  kind: "'call'",
  authority: '2',
};

interface Column {
  column_name: string;
  data_type: string;
  is_nullable: string;
  column_default: string | null;
}

const emptyOf = (type: string): string => (/char|text/.test(type) ? "''" : type === 'boolean' ? 'false' : /json/.test(type) ? "'[]'" : '0');

/** A partition of each day, filled first and indexed as it is attached. */
async function fillRows(client: pg.Client, first: number): Promise<void> {
  const { rows: columns } = await client.query<Column>(
    "select column_name, data_type, is_nullable, column_default from information_schema.columns where table_name = 'request_stats' order by ordinal_position",
  );
  const used = columns.filter(
    ({ column_name: name, is_nullable, column_default }) =>
      name === 'started_at' || said[name] !== undefined || (is_nullable === 'NO' && column_default === null),
  );
  const perDay = Math.ceil(rows / days);
  for (let day = 0; day < days; day++) {
    const from = first + day * dayMs;
    const table = `request_stats_d${from / dayMs}`;
    const value = ({ column_name: name, data_type }: Column): string =>
      name === 'started_at' ? `${from} + (i % ${perDay}) * ${dayMs} / ${perDay}` : (said[name] ?? emptyOf(data_type));
    await client.query(`create table if not exists ${table} (like request_stats including defaults)`);
    const attached = await client.query('select 1 from pg_inherits where inhrelid = $1::regclass', [table]);
    await client.query(
      `insert into ${table} (${used.map(({ column_name }) => `"${column_name}"`).join(', ')})
       select ${used.map(value).join(', ')} from generate_series(${day}::bigint * ${perDay}, (${day}::bigint + 1) * ${perDay} - 1) as i`,
    );
    if (attached.rowCount === 0) await client.query(`alter table request_stats attach partition ${table} for values from (${from}) to (${from + dayMs})`);
  }
}

const dimensions = ['access_key', 'key_group', 'model', 'upstream', 'client_protocol', 'upstream_protocol', 'error'] as const;
const measures = `count(*), count(error_code), 0, 0, sum(input_tokens), sum(output_tokens), 0, 0, 0, sum(cost_micros), sum(duration_ms)`;
const measureNames = 'requests, errors, estimated, unpriced, input, output, cache_read, cache_write, reasoning, cost_micros, duration_ms';
const expression = (name: string): string => (name === 'error' ? "coalesce(error_code, '')" : `coalesce(${name}, '')`);

/**
 * The sums that the stats service would have kept of these rows: by day, and by hour of the last four days, as long as lists ask for hours. The rows are
 * read twice, into the finest sums; all others are made of those.
 */
async function fillSums(client: pg.Client, first: number): Promise<void> {
  const columns = measureNames.split(', ');
  for (const { table, ms, since } of [
    { table: 'by_day', ms: dayMs, since: first },
    { table: 'by_hour', ms: 3_600_000, since: first + (days - 4) * dayMs },
  ])
    await client.query(
      `create temp table ${table} as select started_at / ${ms} * ${ms} as start, ${dimensions.map((name) => `${expression(name)} as ${name}`).join(', ')},
        ${measures
          .split(/, (?![^(]*\))/)
          .map((one, at) => `${one} as ${columns[at]}`)
          .join(', ')}
       from request_stats where started_at >= ${since} group by ${Array.from({ length: dimensions.length + 1 }, (_, at) => at + 1).join(', ')}`,
    );
  for (const scope of ['all', ...dimensions, 'full'] as const) {
    const own = (name: string): boolean => scope === 'full' || scope === name;
    const named = dimensions.filter(own);
    const key = `'${scope}' || chr(1) || 'USD' || chr(1) || ${named.length > 0 ? named.join(' || chr(1) || ') : "''"}`;
    await client.query(
      `insert into stat_series (key, scope, ${dimensions.join(', ')}, currency)
       select distinct ${key}, '${scope}', ${dimensions.map((name) => (own(name) ? name : "''")).join(', ')}, 'USD' from by_day on conflict (key) do nothing`,
    );
    for (const [grain, table] of [
      [2, 'by_day'],
      [1, 'by_hour'],
    ] as const)
      await client.query(
        `insert into stat_sums (series, grain, start, ${measureNames}, duration_counts, content_counts)
         select d.id, ${grain}, g.start, ${columns.map((name) => `g.${name}`).join(', ')}, '34:' || g.requests, ''
         from (select ${key} as key, start, ${columns.map((name) => `sum(${name}) as ${name}`).join(', ')} from ${table} group by 1, 2) g
         join stat_series d on d.key = g.key on conflict do nothing`,
      );
  }
  for (const [kind, owner] of [
    ['key', 'access_key'],
    ['group', 'key_group'],
  ])
    await client.query(
      `insert into spend_days (owner_kind, owner, currency, day, micros) select '${kind}', ${owner}, 'USD', start, sum(cost_micros) from by_day group by 2, 4`,
    );
  await client.query(
    `insert into stat_sessions (session_id, access_key, currency, first_at, last_at, ${measureNames})
     select session_id, access_key, 'USD', min(started_at), max(started_at), ${measures} from request_stats where session_id is not null group by 1, 2`,
  );
}

async function fill(): Promise<void> {
  await storage.catalog.change(async (writer) => {
    for (let group = 0; group < groups; group++)
      await writer.keyGroups.insert(`g${group}`, sampleGroup({ name: `group-${group}`, budget: { limit: 5_000, period: 'month', currency: 'USD' } }));
    for (let index = 0; index < keys; index++)
      await writer.accessKeys.insert(
        `k${index}`,
        sampleKey({
          name: `key-${index}`,
          group: `group-${index % groups}`,
          hash: index.toString(16).padStart(64, '0'),
          tags: [`team-${index % 7}`],
          ...(index % 2 === 0 && { budget: { limit: 5, period: 'month', currency: 'USD' } }),
        }),
      );
  });
  await fillRows(client, first);
}

async function ask({ call }: Harness, [method, path, body]: (typeof lists)[number]): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const { status, text } = await call(method, `${api}/${path}`, body);
    times.push(performance.now() - began);
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
  }
  return times.sort((one, other) => one - other)[rounds / 2] ?? 0;
}

const now = Date.now();
const first = Math.floor(now / dayMs) * dayMs - (days - 1) * dayMs;
/** Free searches and recent sessions: within a week, however long the run takes. */
const weekAgo = now - 6 * dayMs;
const monthAgo = now - 29 * dayMs;
const lists: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', 'access-keys'],
  ['GET', `access-keys?page=${Math.ceil(keys / 50)}`],
  ['GET', 'access-keys?q=key-1999'],
  ['GET', 'access-keys?sort=-group&page=9'],
  ['GET', 'access-keys?group=group-7'],
  ['GET', 'access-keys?tags=team-3'],
  ['GET', 'key-groups'],
  ['GET', 'models'],
  ['GET', 'upstreams'],
  ['GET', 'load-balancers'],
  ['GET', 'pricing'],
  ['GET', 'users'],
  ['GET', 'budgets'],
  ['GET', 'attention'],
  ['GET', 'health'],
  ['GET', 'history'],
  ['GET', 'audit-logs'],
  ['GET', 'tasks'],
  ['GET', 'logs?limit=100'],
  ['GET', `logs?limit=100&from=${monthAgo}&access_key=key-777`],
  ['GET', `logs?limit=100&from=${monthAgo}&model=model-7`],
  ['GET', `logs?limit=100&from=${monthAgo}&upstream=upstream-3`],
  ['GET', `logs?limit=100&from=${monthAgo}&key_group=group-3`],
  ['GET', `logs?limit=100&from=${monthAgo}&session_id=session-77`],
  ['GET', `logs?limit=100&from=${monthAgo}&errors_only=true`],
  ['GET', `logs?limit=100&from=${monthAgo}&min_duration_ms=2200`],
  ['GET', `logs?limit=100&from=${weekAgo}&to=${now}&q=key-1999`],
  ['GET', 'stats/summary?compare=true'],
  ['GET', 'stats/series'],
  ['GET', `stats/series?from=${monthAgo}`],
  ['GET', `stats/series?from=${monthAgo}&by=key_group&order=cost`],
  ['GET', `stats/series?from=${monthAgo}&by=access_key&order=cost`],
  ['GET', 'stats/top?by=model'],
  ['GET', `stats/series?from=${monthAgo}&by=tag&order=cost`],
  ['GET', `stats/top?from=${monthAgo}&by=tag&order=cost&limit=100`],
  ['GET', `stats/top?from=${monthAgo}&by=access_key&order=cost&limit=100`],
  ['GET', `stats/top?from=${monthAgo}&by=model&access_key=key-777`],
  ['GET', `stats/top?from=${monthAgo}&by=access_key&key_group=group-3`],
  ['GET', `stats/sessions?from=${weekAgo}`],
  ['GET', `stats/sessions?from=${monthAgo}&order=cost`],
  ['POST', 'stats/spend', { by: 'access_key', names: Array.from({ length: 50 }, (_, at) => `key-${at}`) }],
  ['POST', 'stats/spend', { by: 'key_group', names: Array.from({ length: groups }, (_, at) => `group-${at}`) }],
  ['POST', 'find', { q: 'key-19' }],
  ['POST', 'find', { q: 'r000000000777' }],
];

const server = process.argv[4] === undefined ? await openTestPostgres({ sharedBuffers: '256MB' }) : undefined;
const url = server ? await server.createDatabase() : String(process.argv[4]);
const storage = openStorage({ mode: 'postgresql', url }, { logger: quiet });
await storage.migrate();
const client = new pg.Client({ connectionString: url });
await client.connect();
const began = performance.now();
if ((await client.query('select 1 from request_stats limit 1')).rowCount === 0) await fill();
if ((await client.query('select 1 from stat_sessions limit 1')).rowCount === 0) {
  await fillSums(client, first);
  await client.query('analyze');
}
await client.end();
say(
  `${keys} keys, ${rows} rows in ${days} days, filled in ${Math.round((performance.now() - began) / 1000)} s; medians of ${rounds}, ms\n\n| list | ms |\n|---|---|`,
);
const harness = await startConsole(storage);
const missed: string[] = [];
for (const list of lists) {
  const ms = await ask(harness, list);
  if (ms > limitMs) missed.push(list[1]);
  say(`| ${list[0]} ${list[1].replaceAll(/from=\d+/g, 'from=…')} | ${ms.toFixed(1)}${ms > limitMs ? ' **missed**' : ''} |`);
}
say(missed.length === 0 ? `\nall within ${limitMs} ms` : `\n${missed.length} above ${limitMs} ms`);
await harness.close();
await storage.close();
await server?.stop();
process.exit(missed.length === 0 ? 0 : 1);
