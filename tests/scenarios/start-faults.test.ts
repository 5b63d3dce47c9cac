/** Starts that fail, and starts that wait, over the real command line with real servers: one clear line, no stack, no credential. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { openStorage } from '@model-gateway/storage';
import pg from 'pg';
import { freePort } from '../support/free-port.ts';
import { splitAvailable } from '../support/gateway.ts';
import { compileCache, gatewayEntry } from '../support/gateway-entry.ts';
import { until } from '../support/in-process.ts';
import { type NatsServer, startNatsServer } from '../support/nats-server.ts';
import { openTestPostgres, type TestPostgres } from '../support/postgres.ts';

const password = `pw-${randomBytes(8).toString('hex')}`;
const masterKey = randomBytes(32).toString('base64');
const unknownMigration = '9999-from-tomorrow';

interface Run {
  child: ChildProcess;
  lines: string[];
  /** Exit code. */
  ended: Promise<number | null>;
  probes: string;
}

(splitAvailable('start-faults') ? describe : describe.skip)('a start that', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-starts-'));
  const runs: Run[] = [];
  let nats: NatsServer;
  let postgres: TestPostgres;
  let databaseUrl: string;
  let lockedUrl: string;
  beforeAll(async () => {
    nats = await startNatsServer();
    postgres = await openTestPostgres();
    databaseUrl = await postgres.createDatabase();
    lockedUrl = databaseUrl.replace('gateway@', `locked:${password}@`);
    // A user who needs a password, on a server that asks nobody else for one.
    await query(databaseUrl, `create role locked login superuser password 'another'`);
    const [{ hba_file: file }] = await query(databaseUrl, 'show hba_file');
    const rules = ['host all locked all scram-sha-256', 'host all all all trust', 'local all all trust'].map((rule) => `('${rule}')`);
    await query(databaseUrl, `copy (values ${rules.join(', ')}) to '${file}'`);
    await query(databaseUrl, 'select pg_reload_conf()');
  });
  afterEach(async () => {
    for (const { child, ended } of runs.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
  });
  afterAll(async () => {
    await postgres?.stop();
    await nats?.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  async function query(url: string, statement: string): Promise<Record<string, string>[] & { 0: Record<string, string> }> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(statement).finally(() => client.end());
    return rows as never;
  }

  async function start(args: string[], env: Record<string, string | undefined> = {}): Promise<Run> {
    const [port, probePort] = [await freePort(), await freePort()];
    const child = spawn(process.execPath, ['--no-warnings', await gatewayEntry(), ...args], {
      env: {
        PATH: process.env['PATH'] ?? '',
        ...compileCache,
        CONFIG_FILE: '/dev/null',
        DATA_DIR: join(folder, String(port)),
        HOST: '127.0.0.1',
        PORT: String(port),
        PROMETHEUS_PORT: String(probePort),
        CONSOLE_PASSWORD: 'a long enough password',
        NATS_URL: nats.url,
        GATEWAY_MASTER_KEY: masterKey,
        STORAGE_MODE: 'postgresql',
        DATABASE_URL: databaseUrl,
        ...env,
      },
    });
    const lines: string[] = [];
    const take = (text: Buffer): void => void lines.push(...text.toString().split('\n').filter(Boolean));
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const run = { child, lines, ended: new Promise<number | null>((resolve) => child.on('close', resolve)), probes: `http://127.0.0.1:${probePort}/readyz` };
    runs.push(run);
    return run;
  }

  const speaksOf = (words: RegExp) => (line: string) => words.test(line);
  /** What no line may have, whatever it is about. */
  function checkLines({ lines }: Run): void {
    const text = lines.join('\n');
    expect(text).not.toContain('"stack"');
    expect(text).not.toMatch(/^\s+at /m);
    for (const secret of [password, masterKey]) expect(text).not.toContain(secret);
  }
  const isReady = async ({ probes }: Run): Promise<boolean> => (await fetch(probes).catch(() => undefined))?.ok === true;
  /** `up` has no use for what services share. */
  const alone = { STORAGE_MODE: 'sqlite', NATS_URL: undefined, DATABASE_URL: undefined };

  test.each(['stats', 'console'])('finds no PostgreSQL: %s waits for it, and says so once', async (service) => {
    const port = await freePort();
    const run = await start(['serve', service], { DATABASE_URL: `postgresql://gateway:${password}@127.0.0.1:${port}/nothing` });
    const told = () => run.lines.filter(speaksOf(/the database cannot be used yet/));
    await until(() => told().length > 0, 'the warning');
    expect(JSON.parse(told()[0]!)).toMatchObject({ address: `127.0.0.1:${port}/nothing`, reason: expect.stringContaining('ECONNREFUSED') });
    expect(await (await fetch(run.probes)).text()).toContain('storage');
    checkLines(run);
    expect(told()).toHaveLength(1);
    expect(told()[0]).toContain('DATABASE_URL');
  });

  test.each(['stats', 'console'])('is refused by PostgreSQL: %s waits, and says what the server said', async (service) => {
    const run = await start(['serve', service], { DATABASE_URL: lockedUrl });
    const told = () => run.lines.filter(speaksOf(/the database cannot be used yet/));
    await until(() => told().length > 0, 'the warning');
    expect(JSON.parse(told()[0]!)).toMatchObject({
      address: expect.stringMatching(/^127\.0\.0\.1:\d+\/gateway_test/),
      reason: expect.stringContaining('password authentication failed'),
    });
    checkLines(run);
    // The password is mended at the server: nobody has to start it anew.
    await query(databaseUrl, `alter role locked password '${password}'`);
    try {
      // Statistics also wait for the console, which is not there.
      await until(async () => !(await (await fetch(run.probes)).text()).includes('storage'), 'the database to be used');
    } finally {
      await query(databaseUrl, `alter role locked password 'another'`);
    }
    expect(told()).toHaveLength(1);
  });

  test('finds a database of a newer version: each service that keeps one ends with one line', async () => {
    const url = await postgres.createDatabase();
    const silent = { info: () => undefined, warn: () => undefined };
    const storage = openStorage({ mode: 'postgresql', url }, { logger: silent });
    await storage.migrate();
    await storage.close();
    await query(url, `insert into kysely_migration (name, timestamp) values ('${unknownMigration}', '2030-01-01T00:00:00.000Z')`);
    const starts = [await start(['serve', 'stats'], { DATABASE_URL: url }), await start(['serve', 'console'], { DATABASE_URL: url })];
    for (const run of starts) {
      expect(await run.ended).toBe(1);
      const told = run.lines.filter(speaksOf(/newer version of this program/));
      expect(told).toHaveLength(1);
      expect(told[0]).toContain(unknownMigration);
      expect(told[0]).toContain(new URL(url).pathname);
      checkLines(run);
    }
  });

  test('finds SQLite of a newer version: `up` ends with one line', async () => {
    const dataDir = join(folder, 'newer');
    const own = { ...alone, DATA_DIR: dataDir };
    const first = await start(['up'], own);
    await until(() => isReady(first), 'the gateway');
    first.child.kill('SIGTERM');
    await first.ended;
    const file = join(dataDir, 'gateway.db');
    const database = new DatabaseSync(file);
    database.exec(`insert into kysely_migration (name, timestamp) values ('${unknownMigration}', '2030-01-01T00:00:00.000Z')`);
    database.close();
    const run = await start(['up'], own);
    expect(await run.ended).toBe(1);
    const told = run.lines.filter(speaksOf(/newer version of this program/));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(file);
    checkLines(run);
  });

  test('finds a file that is no SQLite database: `up` ends with one line, and leaves it as it is', async () => {
    const dataDir = join(folder, 'damaged');
    const file = join(dataDir, 'gateway.db');
    mkdirSync(dataDir);
    const text = 'what a failing disk made of it '.repeat(1000);
    writeFileSync(file, text);
    const run = await start(['up'], { ...alone, DATA_DIR: dataDir });
    expect(await run.ended).toBe(1);
    const told = run.lines.filter(speaksOf(/file is not a database/));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(`The database ${file} is damaged`);
    checkLines(run);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test.each(['edge', 'router', 'translator', 'script-runner', 'mcp-aggregator', 'stats', 'console', 'data-plane'])(
    'finds no NATS: %s waits for it, and says so once',
    async (service) => {
      const port = await freePort();
      const run = await start(['serve', service], { NATS_URL: `nats://${service}:${password}@127.0.0.1:${port}` });
      const told = () => run.lines.filter(speaksOf(/the bus server cannot be reached/));
      await until(() => told().length > 0, 'the warning');
      expect(JSON.parse(told()[0]!)).toMatchObject({ servers: `127.0.0.1:${port}`, error: expect.stringMatching(/refused/i) });
      expect(told()[0]).toContain('NATS_URL');
      await until(async () => (await (await fetch(run.probes)).text()).includes('bus'), 'the reason at the probe');
      checkLines(run);
      expect(told()).toHaveLength(1);
    },
  );

  test('finds its port taken: one line names it, with the setting to change', async () => {
    const taken = createServer().listen(await freePort(), '127.0.0.1');
    await until(() => taken.listening, 'the port');
    const { port } = taken.address() as { port: number };
    try {
      for (const [args, setting, env] of [
        [['serve', 'edge'], 'PORT', {}],
        [['serve', 'edge'], 'PROMETHEUS_PORT', {}],
        [['serve', 'stats'], 'PROMETHEUS_PORT', {}],
        [['up'], 'PORT', alone],
      ] as const) {
        const run = await start([...args], { ...env, [setting]: String(port) });
        expect([args, setting, await run.ended]).toEqual([args, setting, 1]);
        const told = run.lines.filter(speaksOf(new RegExp(`127\\.0\\.0\\.1:${port} is already in use; change ${setting}`)));
        expect([args, setting, told.length]).toEqual([args, setting, 1]);
        checkLines(run);
      }
    } finally {
      taken.close();
    }
  });
});
