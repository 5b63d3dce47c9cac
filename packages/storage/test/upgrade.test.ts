/** A database that the first released version filled is brought up to date, and nothing in it is lost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RequestRow } from '@model-gateway/contracts';
import { Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { openTestPostgres, postgresAvailable, type TestPostgres } from '../../../tests/support/postgres.ts';
import type { StorageDialect } from '../src/dialects/dialect.ts';
import { createPostgresDialect } from '../src/dialects/postgres.ts';
import { createSqliteDialect } from '../src/dialects/sqlite.ts';
import { openStorage, type Storage, type StorageTarget } from '../src/index.ts';
import { createMigrationProvider } from '../src/migrations/index.ts';
import { silent } from './engines.ts';
import { sampleGroup, sampleKey, sampleModel, sampleRow, sampleUpstream } from './samples.ts';

const dayMs = 86_400_000;
const midnight = Date.UTC(2026, 0, 31);
/** On both sides of midnights, and one time twice. */
const times = [midnight - dayMs, midnight - 1, midnight, midnight, midnight + dayMs - 1, midnight + 3 * dayMs + 5000];
/** As later versions read them: what came later is empty. */
const rows: RequestRow[] = times.map((started_at, index) =>
  sampleRow({ id: `old-${index}`, started_at, client_request_id: index % 2 ? `mine-${index}` : null, pipeline: [], routes: [] }),
);

/** Fills it as the first version left it: two migrations, raw rows. */
async function fill(dialect: StorageDialect): Promise<void> {
  const db = new Kysely<Record<string, Record<string, unknown>>>({ dialect: dialect.kysely });
  const { error } = await new Migrator({ db, provider: createMigrationProvider(dialect) }).migrateTo('0002-request-stats');
  if (error) throw error;
  const insert = (table: string, id: string, { name, ...rest }: { name: string }, columns: Record<string, unknown> = {}) =>
    db
      .insertInto(table)
      .values({ id, name, etag: 2, document: JSON.stringify({ name, ...rest }), created_at: 1, updated_at: 1, ...columns })
      .execute();
  await insert('upstreams', 'u1', sampleUpstream());
  await insert('models', 'm1', sampleModel({ aliases: ['quick'] }), { upstream: 'main' });
  await db
    .insertInto('model_names')
    .values([
      { name: 'fast', model_id: 'm1', kind: 'canonical' },
      { name: 'quick', model_id: 'm1', kind: 'alias' },
    ])
    .execute();
  // The first version knew no strict translation.
  const { strict_translation: _later, ...group } = sampleGroup();
  await insert('key_groups', 'g1', group);
  const { hash, sealed, group: group_name, ...key } = sampleKey();
  await insert('access_keys', 'a1', { ...key, ...{ group: group_name } }, { group_name, hash, sealed });
  await db.updateTable('catalog_revision').set({ revision: 2 }).execute();
  for (const row of rows) {
    const {
      pipeline: _pipeline,
      routes: _routes,
      ending: _ending,
      cache_write_1h_tokens: _oneHour,
      kind: _kind,
      of: _of,
      audio_input_tokens: _read,
      audio_output_tokens: _written,
      image_input_tokens: _imagesRead,
      image_output_tokens: _imagesWritten,
      helpers: _helpers,
      turn_id: _turn,
      path: _path,
      images: _images,
      seconds: _seconds,
      characters: _characters,
      service_tier: _serviceTier,
      ...first
    } = row;
    await db
      .insertInto('request_stats')
      .values({ ...first, stream: dialect.encodeBoolean(row.stream), attempts: JSON.stringify(row.attempts), losses: JSON.stringify(row.losses) })
      .execute();
  }
  await db.destroy();
}

const folder = mkdtempSync(join(tmpdir(), 'gateway-upgrade-'));
let server: TestPostgres | undefined;
const targets: Record<string, () => Promise<StorageTarget>> = {
  sqlite: async () => ({ mode: 'sqlite', file: join(folder, 'gateway.db') }),
  ...(postgresAvailable() && {
    postgresql: async (): Promise<StorageTarget> => {
      server = await openTestPostgres();
      return { mode: 'postgresql', url: await server.createDatabase() };
    },
  }),
};
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(Object.entries(targets))('a database of the first version on %s', (_name, findTarget) => {
  let storage: Storage;
  beforeAll(async () => {
    const target = await findTarget();
    await fill(target.mode === 'sqlite' ? createSqliteDialect(target.file) : createPostgresDialect(target, silent));
    // Two processes of the new version begin at the same time.
    const other = openStorage(target, { logger: silent });
    storage = openStorage(target, { logger: silent });
    await Promise.all([storage.migrate(), other.migrate()]);
    await other.close();
  });
  afterAll(() => storage.close());

  test('has all its rows, newest first, and finds them', async () => {
    const { items } = await storage.requests.listRows({ filters: {}, limit: 100 });
    const newestFirst = [...rows].sort((a, b) => b.started_at - a.started_at || (a.id < b.id ? 1 : -1));
    expect(items).toEqual(newestFirst);
    expect(await storage.requests.findRow('old-3')).toEqual(rows[3]);
    expect((await storage.requests.listRows({ filters: { requestId: 'mine-1' }, limit: 5 })).items).toEqual([rows[1]]);
    const lastDay = { from: midnight, to: midnight + dayMs };
    expect((await storage.requests.listRows({ filters: lastDay, limit: 100 })).items.map(({ id }) => id)).toEqual(['old-4', 'old-3', 'old-2']);
  });

  test('keeps one row for each request when it is delivered again, and accepts new rows of old days', async () => {
    await storage.requests.prepareDay(midnight);
    await storage.requests.insertRows([{ ...rows[2]!, authority: 2, output_tokens: 21 }, rows[1]!, sampleRow({ id: 'new', started_at: midnight + 1 })]);
    const { items } = await storage.requests.listRows({ filters: {}, limit: 100 });
    expect(items).toHaveLength(rows.length + 1);
    expect(items.find(({ id }) => id === 'old-2')).toMatchObject({ authority: 2, output_tokens: 21 });
  });

  test('has its configuration, which can be changed from there on and gone back to', async () => {
    const loaded = await storage.catalog.load();
    expect(loaded).toMatchObject({ revision: 2, upstreams: [{ id: 'u1', name: 'main' }], access_keys: [{ name: 'ada', hash: 'a'.repeat(64) }] });
    expect(await storage.catalog.modelNames.findTaken(['quick'])).toEqual([{ name: 'quick', kind: 'alias', owner: 'model', of: 'fast' }]);
    const { revision } = await storage.catalog.change(async (writer) => {
      await writer.keyGroups.update((await writer.keyGroups.find('team'))!, sampleGroup({ description: 'changed' }));
    });
    expect(revision).toBe(3);
    expect(await storage.history.between(2, 3)).toMatchObject([{ section: 'key_groups', name: 'team', before: { document: { description: '' } } }]);
  });

  test('forgets what is too old, and only that', async () => {
    const aged = storage.requests.prune({ rows: midnight + 2 * dayMs, sessions: null, sums: { minute: null, hour: null, day: null } });
    expect((await aged).rows + (await aged).partitions).toBeGreaterThan(0);
    const { items } = await storage.requests.listRows({ filters: {}, limit: 100 });
    expect(items.map(({ id }) => id)).toEqual(['old-5']);
  });
});

test('a migration that ends in the midst leaves nothing behind on SQLite, and the next start goes on from there', async () => {
  const file = join(folder, 'interrupted.db');
  const dialect = createSqliteDialect(file);
  const db = new Kysely<Record<string, Record<string, unknown>>>({ dialect: dialect.kysely });
  const { error } = await new Migrator({ db, provider: createMigrationProvider(dialect) }).migrateTo('0043-budget-columns');
  expect(error).toBeUndefined();
  // The last but one statement of the next migration finds its name taken.
  await sql`create trigger spend_days_changed after update on spend_days begin select 1; end`.execute(db);
  const storage = openStorage({ mode: 'sqlite', file }, { logger: silent });
  await expect(storage.migrate()).rejects.toThrow('spend_days_changed already exists');
  await sql`drop trigger spend_days_changed`.execute(db);
  await db.destroy();
  await storage.migrate();
  expect(await storage.requests.spent([{ kind: 'key', name: 'ada', currency: 'USD', from: 0 }])).toEqual([0]);
  await storage.close();
});
