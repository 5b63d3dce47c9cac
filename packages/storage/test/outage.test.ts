import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { openHeldConnection } from '../../../tests/support/held-connection.ts';
import { openTestPostgres, postgresAvailable, type TestPostgres } from '../../../tests/support/postgres.ts';
import { createWatchedPool } from '../src/dialects/watched-pool.ts';
import { guardStorage, openStorage, type Storage } from '../src/index.ts';
import { silent } from './engines.ts';
import { sampleGroup, sampleRow } from './samples.ts';

const suite = postgresAvailable() && !process.env['DATABASE_URL'] ? describe : describe.skip;

suite('a PostgreSQL server that dies and comes back', () => {
  let server: TestPostgres;
  let storage: Storage;
  beforeAll(async () => {
    server = await openTestPostgres();
    storage = openStorage({ mode: 'postgresql', url: await server.createDatabase() }, { logger: silent });
    await storage.migrate();
  });
  afterAll(async () => {
    await storage.close();
    await server.stop();
  });

  test('is unavailable, never the end of the process, and works again without a restart of ours', async () => {
    const guard = guardStorage({ storage, logger: silent, intervalMs: 50 });
    await guard.start();
    const untilUp = async (up: boolean) => {
      for (const end = Date.now() + 30_000; guard.up !== up && Date.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(guard.up).toBe(up);
    };
    expect(guard.up).toBe(true);
    await storage.requests.insertRows([sampleRow()]);
    await server.kill?.();
    await expect(storage.requests.insertRows([sampleRow({ id: 'r2' })])).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(storage.catalog.change((writer) => writer.keyGroups.insert('g', sampleGroup()))).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(storage.catalog.load()).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(storage.ping()).rejects.toMatchObject({ code: 'service_unavailable' });
    await untilUp(false);
    await server.restart?.();
    await storage.requests.insertRows([sampleRow({ id: 'r2' })]);
    expect((await storage.requests.listRows({ filters: {}, limit: 10 })).items.map(({ id }) => id)).toEqual(['r2', 'r1']);
    await untilUp(true);
    guard.stop();
  });

  test('is unavailable while its role may not write, or a table is gone: that is no fault of what is to be stored', async () => {
    const url = await server.createDatabase();
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    const owner = openStorage({ mode: 'postgresql', url }, { logger: silent });
    await owner.migrate();
    await admin.query('create role reader login; grant select on all tables in schema public to reader');
    const other = new URL(url);
    other.username = 'reader';
    const reader = openStorage({ mode: 'postgresql', url: other.href }, { logger: silent });
    const refused = (code: string) => ({ code: 'service_unavailable', message: expect.stringContaining('lacks a right on it: the log says'), cause: { code } });
    await expect(reader.requests.insertRows([sampleRow()])).rejects.toMatchObject(refused('42501'));
    await admin.query('alter table request_stats rename to elsewhere');
    await expect(owner.requests.insertRows([sampleRow()])).rejects.toMatchObject(refused('42P01'));
    await admin.query('alter table elsewhere rename to request_stats; grant all on all tables in schema public to reader');
    await reader.requests.insertRows([sampleRow()]);
    for (const one of [owner, reader]) await one.close();
    await admin.end();
  });

  test('once one connection is silent, those that nobody uses are made anew: a server that went without a word is not asked again by each of them', async () => {
    const way = await openHeldConnection(await server.createDatabase());
    let silences = 0;
    const pool = createWatchedPool({ connectionString: way.url, max: 5, query_timeout: 500 }, () => silences++);
    await Promise.all([1, 2, 3].map(() => pool.query('select pg_sleep(0.1)')));
    expect(pool.totalCount).toBe(3);
    way.hold();
    const client = await pool.connect();
    await expect(client.query('select 1')).rejects.toThrow('Query read timeout');
    client.release();
    const answers = await Promise.all([1, 2, 3].map(async () => (await pool.query('select 1 as one')).rows));
    expect(answers).toEqual([1, 2, 3].map(() => [{ one: 1 }]));
    expect(silences).toBe(1);
    await pool.end();
    way.close();
  });

  test('a database that was read-only when connections were opened is written to once it is not: they are not kept', async () => {
    const url = await server.createDatabase();
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    const owner = openStorage({ mode: 'postgresql', url }, { logger: silent });
    await owner.migrate();
    await owner.close();
    const readOnly = (value: 'on' | 'off') => admin.query(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = ${value}`);
    await readOnly('on');
    const other = openStorage({ mode: 'postgresql', url }, { logger: silent });
    // Several connections, each of which the server holds to what was set when it was opened.
    await Promise.all([1, 2, 3, 4].map(() => other.ping()));
    const refused = { code: 'service_unavailable', message: expect.stringContaining('read-only'), cause: { code: '25006' } };
    await expect(other.requests.insertRows([sampleRow()])).rejects.toMatchObject(refused);
    await expect(other.catalog.change((writer) => writer.keyGroups.insert('g', sampleGroup()))).rejects.toMatchObject(refused);
    await readOnly('off');
    await other.requests.insertRows([sampleRow()]);
    await other.catalog.change((writer) => writer.keyGroups.insert('g', sampleGroup()));
    expect((await other.requests.listRows({ filters: {}, limit: 10 })).items).toHaveLength(1);
    await other.close();
    await admin.end();
  });

  test('a backup that holds its lock for hours holds up neither rows nor lists, whose day may have no partition yet; old days wait for its end', async () => {
    const url = await server.createDatabase();
    const one = openStorage({ mode: 'postgresql', url }, { logger: silent });
    await one.migrate();
    const day = 86_400_000;
    await one.requests.prepareDay(Date.now() - 50 * day);
    const keep = { rows: Date.now() - 30 * day, sessions: null, sums: { minute: null, hour: null, day: null } };
    const backup = new pg.Client({ connectionString: url });
    await backup.connect();
    await backup.query('begin; lock table request_stats in access share mode');
    const lockedOut = { code: 'service_unavailable', message: expect.stringContaining('Another session'), cause: { code: '55P03' } };
    const upkeep = Promise.all([
      expect(one.requests.prune(keep)).rejects.toMatchObject(lockedOut),
      expect(one.requests.prepareDay(Date.now() + day)).rejects.toMatchObject(lockedOut),
    ]);
    // What waits behind the upkeep would wait for the end of the backup, or of the statement's time.
    await one.requests.insertRows([sampleRow({ id: 'meanwhile', started_at: Date.now() })]);
    const page = await one.requests.listRows({ filters: {}, limit: 10 });
    expect(page.items.map(({ id }) => id)).toEqual(['meanwhile']);
    await upkeep;
    await backup.query('rollback');
    expect(await one.requests.prune(keep)).toMatchObject({ partitions: 1 });
    await one.requests.prepareDay(Date.now());
    expect((await one.requests.listRows({ filters: {}, limit: 10 })).items).toHaveLength(1);
    await backup.end();
    await one.close();
  });

  test('connections that are all in use are told apart from a server that cannot be reached', async () => {
    const pool = createWatchedPool({ connectionString: await server.createDatabase(), max: 2, connectionTimeoutMillis: 200 }, () => undefined);
    const used = [await pool.connect(), await pool.connect()];
    await expect(pool.connect()).rejects.toMatchObject({ code: 'EPOOLBUSY', message: expect.stringContaining('all 2 connections are in use') });
    for (const one of used) one.release();
    (await pool.connect()).release();
    await pool.end();
    const nobody = createWatchedPool({ connectionString: 'postgresql://gateway@127.0.0.1:1/none', max: 1, connectionTimeoutMillis: 200 }, () => undefined);
    await expect(nobody.connect()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await nobody.end();
  });

  test('a transaction that is cut leaves nothing behind', async () => {
    const before = await storage.catalog.revision();
    const cut = storage.catalog.change(async (writer) => {
      await writer.keyGroups.insert('g', sampleGroup());
      await server.kill?.();
      await writer.keyGroups.insert('g2', sampleGroup({ name: 'second' }));
    });
    await expect(cut).rejects.toMatchObject({ code: 'service_unavailable' });
    await server.restart?.();
    expect(await storage.catalog.revision()).toBe(before);
    expect(await storage.catalog.keyGroups.find('team')).toBeNull();
  });
});
