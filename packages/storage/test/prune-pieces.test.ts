/** What is forgotten of large tables: all that is too old and nothing else, in pieces that keep no writer waiting. */
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { openStorage, type Storage } from '../src/index.ts';
import { silent } from './engines.ts';
import { sampleRow } from './samples.ts';

/** The most that a statement may delete. */
const maxPiece = 500;
const old = 2_300;
const fresh = 700;
const dayMs = 86_400_000;
const now = 100 * dayMs;
const before = now - 10 * dayMs;

let storage: Storage;
let database: DatabaseSync;
beforeEach(async () => {
  const prepare = jest.spyOn(DatabaseSync.prototype, 'prepare');
  storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: silent, now: () => now });
  await storage.migrate();
  database = prepare.mock.contexts[0] as DatabaseSync;
  prepare.mockRestore();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await storage.close();
});

/** Rows of which the first `old` have a time before `before`, as `columns` of a counter `n`. */
const fill = (table: string, columns: string): void =>
  database.exec(`with recursive c(n) as (select 0 union all select n + 1 from c where n < ${old + fresh - 1}),
    r as (select n, case when n < ${old} then ${before} - 1 - n else ${now} + n end as at from c)
    insert into ${table} select ${columns} from r`);
const counted = (table: string): number => Number(database.prepare(`select count(*) as rows from ${table}`).get()?.['rows']);

/** Runs the deletion and resolves with the rows that each of its statements deleted from this table. */
async function piecesOf(table: string, prune: () => Promise<unknown>): Promise<number[]> {
  const run = jest.spyOn(StatementSync.prototype, 'run');
  await prune();
  const pieces = run.mock.results.flatMap(({ value }, at) =>
    (run.mock.contexts[at] as StatementSync).sourceSQL.replaceAll('"', '').startsWith(`delete from ${table} `)
      ? [Number((value as { changes: number }).changes)]
      : [],
  );
  run.mockRestore();
  return pieces;
}

const names = (count: number): string => Array.from({ length: count }, (_, at) => `'name ' || (n + ${at})`).join(', ');
const sums = { minute: null, hour: before, day: null };
const tables: [table: string, columns: string, prune: () => Promise<unknown>][] = [
  ['tasks (owner, id, status, created_at, due_at, expires_at, content)', `${names(2)}, 'running', 1, null, at, 'sealed'`, () => storage.tasks.prune()],
  [
    'task_reservations (task, currency, access_key, key_group, micros, created_at, until)',
    `${names(1)}, 'USD', 'key', 'group', 5, 1, at`,
    () => storage.tasks.prune(),
  ],
  ['key_addresses (access_key, address, first_at, last_at)', `'key', ${names(1)}, 1, at`, () => storage.keyAddresses.prune(before)],
  [
    'attempt_sums (grain, start, upstream, key_id, model, outcome, attempts, duration_ms)',
    `1, at - ${dayMs}, ${names(3)}, 'ok', 1, 1`,
    () => storage.requests.prune({ rows: null, sessions: null, sums }),
  ],
  [
    'stat_sums (series, grain, start, requests, errors, estimated, unpriced, input, output, cache_read, cache_write, reasoning, cost_micros, duration_ms)',
    'n % 2, 1, at, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1',
    () => storage.requests.prune({ rows: null, sessions: null, sums }),
  ],
];

test.each(tables)('%s', async (table, columns, prune) => {
  const name = table.split(' ')[0]!;
  database.exec(`pragma foreign_keys = off;
    insert into access_keys (id, name, etag, document, created_at, updated_at, group_name, hash)
      values ('1', 'key', 1, '{}', 1, 1, 'group', 'hash');
    insert into stat_series (id, key, scope, access_key, key_group, model, upstream, client_protocol, upstream_protocol, error, currency)
      values (1, 'one', 'all', '', '', '', '', '', '', '', '')`);
  fill(table, columns);
  const pieces = await piecesOf(name, prune);
  expect(Math.max(...pieces)).toBeLessThanOrEqual(maxPiece);
  expect(pieces.reduce((sum, one) => sum + one, 0)).toBe(old);
  expect(counted(name)).toBe(fresh);
});

test('addresses of keys that are gone go too, and a deletion that is stopped goes no further', async () => {
  fill('key_addresses (access_key, address, first_at, last_at)', `'gone', ${names(1)}, 1, at`);
  let looks = 0;
  await storage.keyAddresses.prune(before, () => ++looks > 2);
  expect(counted('key_addresses')).toBe(old + fresh - 2 * maxPiece);
  expect(await piecesOf('key_addresses', () => storage.keyAddresses.prune(before))).toEqual([500, 500, 500, 500, 0]);
  expect(counted('key_addresses')).toBe(0);
});

test('series go with their last sum, and what comes back later is counted under its own name', async () => {
  const everything = { minute: null, hour: before, day: before };
  const names = (): string[] =>
    database
      .prepare("select model from stat_series where scope = 'model' order by model")
      .all()
      .map(({ model }) => String(model));
  const countOf = async (model: string): Promise<number> => {
    const [sums] = await storage.requests.readStats({ from: 0, to: now + dayMs, grain: 'day', filters: { model }, overTime: false });
    return sums?.measures.requests ?? 0;
  };
  const insert = (id: string, model: string, started_at: number) => storage.requests.insertRows([sampleRow({ id, model, started_at })]);
  await insert('1', 'kept', now);
  await insert('2', 'gone', before - 2 * dayMs);
  await storage.requests.prune({ rows: null, sessions: null, sums: { ...everything, minute: before } });
  expect(names()).toEqual(['kept']);
  // SQLite gives the id of what was deleted to the next one.
  await insert('3', 'new', now);
  await insert('4', 'gone', now);
  expect([await countOf('new'), await countOf('gone'), await countOf('kept'), names()]).toEqual([1, 1, 1, ['gone', 'kept', 'new']]);
});

test('a database that lost its latest series, as a replica that was behind does, gets them anew', async () => {
  const insert = (id: string) => storage.requests.insertRows([sampleRow({ id, model: 'late', started_at: now })]);
  const counted = async () =>
    (await storage.requests.readStats({ from: 0, to: now + dayMs, grain: 'hour', filters: { model: 'late' }, overTime: false }))[0]?.measures.requests;
  await insert('1');
  expect(await counted()).toBe(1);
  database.exec('delete from stat_sums; delete from stat_series');
  await insert('2');
  expect(await counted()).toBe(1);
});

test('sums are added by a transaction that writes first: SQLite waits for a lock then alone', async () => {
  const seen: string[] = [];
  for (const method of ['run', 'all', 'get', 'iterate'] as const) {
    const real = StatementSync.prototype[method] as (...values: unknown[]) => unknown;
    jest.spyOn(StatementSync.prototype, method).mockImplementation(function (this: StatementSync, ...values: unknown[]) {
      seen.push(this.sourceSQL.replaceAll('"', ''));
      return real.apply(this, values) as never;
    });
  }
  await storage.requests.insertRows([sampleRow({ id: '1', started_at: now })]);
  seen.length = 0;
  // Counts what waits.
  await storage.requests.readStats({ from: 0, to: now + dayMs, grain: 'hour', filters: {}, overTime: false });
  const touched = seen.filter((statement) => /stat_counted|stat_series|stat_sums/.test(statement));
  expect(touched[0]).toMatch(/^(?:insert into|update) stat_counted/);
  expect(touched.some((statement) => statement.startsWith('insert into stat_sums'))).toBe(true);
});
