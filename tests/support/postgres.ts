/**
 * A real PostgreSQL for tests: a fresh database on the server of DATABASE_URL, else on a server of our own from the machine's binaries, else in a
 * container. Without any of them `openTestPostgres` rejects; `postgresAvailable` tells beforehand, and is never false in CI: there a missing server must fail loudly.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { chooseWay, noWay, startContainer, type Way } from './containers.ts';
import { freePort } from './free-port.ts';

const run = promisify(execFile);
const installations = '/usr/lib/postgresql';

export interface TestPostgres {
  /** A database of its own, empty. */
  createDatabase(): Promise<string>;
  /** Kills the server and starts it again on the same port and data. Absent for a server that is not ours. */
  restart?: (() => Promise<void>) | undefined;
  /** Stops answering at once; `restart` brings it back. */
  kill?: (() => Promise<void>) | undefined;
  /** SIGSTOP and SIGCONT, to the server and to every process of its connections. Absent where they are not this machine's own. */
  signal?: ((name: 'SIGSTOP' | 'SIGCONT') => void) | undefined;
  /** This process does not wait for it any more. */
  unref?: (() => void) | undefined;
  /** Of a server of our own, and the folder of its files. */
  readonly pid?: number | undefined;
  readonly home?: string;
  stop(): Promise<void>;
}

const binaries = (): string | undefined => {
  if (!existsSync(installations)) return undefined;
  const versions = readdirSync(installations).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(installations, version, 'bin')).find((folder) => existsSync(join(folder, 'initdb')));
};

const postgresWay = (): Way | null => chooseWay({ given: process.env['DATABASE_URL'], binary: binaries() !== undefined });

export const postgresAvailable = (): boolean => process.env['CI'] === 'true' || postgresWay() !== null;

/** Paths of PEM files. */
export interface ServerTls {
  ca: string;
  cert: string;
  key: string;
}

/**
 * `sharedBuffers`: of a server of our own; tests keep little, a bench wants what a server has by default. `tls`: databases that are created can be reached over TLS with a client's certificate alone; its files are read at each start.
 */
export async function openTestPostgres({ sharedBuffers = '16MB', tls }: { sharedBuffers?: string; tls?: ServerTls } = {}): Promise<TestPostgres> {
  const way = postgresWay();
  if (way === null) throw new Error(noWay('PostgreSQL', 'DATABASE_URL', 'postgresql'));
  if (way === 'given') return onServer(process.env['DATABASE_URL']!, []);
  return way === 'container' ? startContained(sharedBuffers) : startServer(binaries()!, sharedBuffers, tls);
}

async function startContained(sharedBuffers: string): Promise<TestPostgres> {
  const container = await startContainer({
    service: 'postgres',
    ports: [5432],
    command: ['-c', 'fsync=off', '-c', `shared_buffers=${sharedBuffers}`],
    env: { POSTGRES_USER: 'gateway', POSTGRES_HOST_AUTH_METHOD: 'trust' },
  });
  const adminUrl = `postgresql://gateway@${container.host}:${container.ports[0]}/postgres`;
  let runs = true;
  const kill = async () => {
    runs = false;
    await container.kill();
  };
  await answering(adminUrl, () => false);
  return {
    createDatabase: onServer(adminUrl, []).createDatabase,
    kill,
    async restart() {
      if (runs) await kill();
      await container.start();
      runs = true;
      await answering(adminUrl, () => false);
    },
    stop: () => container.remove(),
  };
}

function onServer(adminUrl: string, created: string[]): TestPostgres {
  const admin = async (statement: string) => {
    const client = new pg.Client({ connectionString: adminUrl });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  return {
    async createDatabase() {
      const name = `gateway_test_${randomBytes(6).toString('hex')}`;
      await admin(`create database ${name}`);
      created.push(name);
      const url = new URL(adminUrl);
      url.pathname = `/${name}`;
      return url.href;
    },
    async stop() {
      for (const name of created) await admin(`drop database if exists ${name} with (force)`);
    },
  };
}

async function startServer(folder: string, sharedBuffers: string, tls?: ServerTls): Promise<TestPostgres> {
  const home = mkdtempSync(join(tmpdir(), 'gateway-postgres-'));
  const user = await unprivileged(home);
  const data = join(home, 'data');
  await run('cp', ['-a', await template(folder), data], user);
  const port = await freePort();
  const settings = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', home, '-c', 'fsync=off', '-c', `shared_buffers=${sharedBuffers}`];
  const secured = tls && (() => secure(home, tls, user));
  if (secured) settings.push(...(await secured()));
  const adminUrl = `postgresql://gateway@127.0.0.1:${port}/postgres`;
  const start = () => launch(join(folder, 'postgres'), settings, user, adminUrl);

  let server = await start();
  // The server ends with its own test process, even when that one is killed by a time limit.
  const lastResort = () => void server.kill('SIGKILL');
  process.once('exit', lastResort);
  const kill = async () => {
    if (hasEnded(server)) return;
    await run(join(folder, 'pg_ctl'), ['-D', data, '-m', 'immediate', '-w', 'stop'], user).catch(() => server.kill('SIGKILL'));
    await ended(server);
  };
  return {
    createDatabase: onServer(adminUrl, []).createDatabase,
    kill,
    signal: (name) => signalAll(server.pid!, name),
    async restart() {
      await kill();
      await secured?.();
      server = await start();
    },
    unref: () => server.unref(),
    get pid() {
      return server.pid;
    },
    home,
    async stop() {
      process.removeListener('exit', lastResort);
      await kill();
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;
const ended = (server: ChildProcess): Promise<unknown> => (hasEnded(server) ? Promise.resolve() : new Promise((resolve) => server.once('exit', resolve)));

/** A stopped server starts no more processes, so it is stopped first, and goes on last. */
function signalAll(server: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  if (name === 'SIGSTOP') process.kill(server, name);
  const children = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  for (const child of children) {
    try {
      process.kill(child, name);
    } catch {
      // It ended meanwhile.
    }
  }
  if (name === 'SIGCONT') process.kill(server, name);
}

/** Puts the files where the server's user reads them; gives its settings. */
async function secure(home: string, { ca, cert, key }: ServerTls, user: User): Promise<string[]> {
  const rules = join(home, 'hba.conf');
  const files = { ca: join(home, 'ca.pem'), cert: join(home, 'server.pem'), key: join(home, 'server.key') };
  const text = ['local all all trust', 'host postgres all 127.0.0.1/32 trust', 'hostssl all all 127.0.0.1/32 trust clientcert=verify-ca', ''].join('\n');
  // The server's user reads and owns them; it may be another than ours.
  for (const [target, content] of [
    [rules, text],
    [files.ca, readFileSync(ca, 'utf8')],
    [files.cert, readFileSync(cert, 'utf8')],
    [files.key, readFileSync(key, 'utf8')],
  ] as const)
    await run(process.execPath, ['-e', 'require("fs").writeFileSync(process.argv[1], process.argv[2], { mode: 0o600 })', target, content], user);
  return ['-c', `hba_file=${rules}`, '-c', 'ssl=on', '-c', `ssl_ca_file=${files.ca}`, '-c', `ssl_cert_file=${files.cert}`, '-c', `ssl_key_file=${files.key}`];
}

/** A data folder as initdb makes it, which takes ten times as long as a copy of it: made once for each version of the server, then copied. */
async function template(folder: string): Promise<string> {
  const made = join(tmpdir(), `gateway-postgres-template-${process.getuid?.() ?? 0}${folder.replaceAll(/\W+/g, '-')}`);
  if (existsSync(made)) return made;
  const home = mkdtempSync(join(tmpdir(), 'gateway-postgres-'));
  const user = await unprivileged(home);
  const data = join(home, 'data');
  await run(join(folder, 'initdb'), ['-D', data, '-U', 'gateway', '-A', 'trust', '--no-sync', '-E', 'UTF8'], user);
  try {
    renameSync(data, made);
  } catch (error) {
    // Another worker was first.
    if (!existsSync(made)) throw error;
  }
  rmSync(home, { recursive: true, force: true });
  return made;
}

/** Whose processes a server's are; a folder that this user may enter. */
interface User {
  uid?: number;
  gid?: number;
  cwd: string;
}

/**
 * initdb and postgres refuse to run as root: then everything runs as the user `postgres`. No `runuser` between: it stops itself when what it runs is
 * stopped, and nobody would continue it.
 */
async function unprivileged(home: string): Promise<User> {
  if (process.getuid?.() !== 0) return { cwd: '/' };
  const [uid, gid] = await Promise.all(['-u', '-g'].map(async (option) => Number((await run('id', [option, 'postgres'])).stdout)));
  chownSync(home, uid!, gid!);
  return { uid: uid!, gid: gid!, cwd: '/' };
}

async function launch(command: string, argumentList: string[], user: User, adminUrl: string): Promise<ChildProcess> {
  const server = spawn(command, argumentList, { stdio: 'ignore', ...user });
  await answering(adminUrl, () => hasEnded(server));
  return server;
}

async function answering(adminUrl: string, gone: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const client = new pg.Client({ connectionString: adminUrl });
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (gone() || Date.now() > deadline) throw new Error('the PostgreSQL server for tests did not start', { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}
