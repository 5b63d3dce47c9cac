/** TLS towards real servers of NATS, PostgreSQL and Redis: who is trusted, who is refused, and certificates that are renewed while the process runs. */
import { randomBytes } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { connectNatsBus } from '@model-gateway/bus';
import type { TlsConfig } from '@model-gateway/config';
import { RedisState } from '@model-gateway/distributed-state';
import { openStorage } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import { until } from '../../../packages/upstream-client/test/calls.ts';
import { freePort } from '../../../tests/support/free-port.ts';
import { type NatsServer, natsAvailable, startNatsServer } from '../../../tests/support/nats-server.ts';
import { openTestPostgres, postgresAvailable, type TestPostgres } from '../../../tests/support/postgres.ts';
import { type RedisServer, redisAvailable, startRedisServer } from '../../../tests/support/redis-server.ts';
import { type Authority, createTlsFolder, type Issued, type TlsFolder } from '../../../tests/support/tls-authority.ts';
import { natsFiles, readTlsFiles } from '../src/tls-files.ts';

let folder: TlsFolder;
let trusted: Authority;
let other: Authority;
/** Files that the servers read, put in place by `present`. */
let server: Issued & { ca: string };
/** Files that the gateway reads. */
let own: Issued & { ca: string };

beforeAll(() => {
  folder = createTlsFolder();
  trusted = folder.authority('trusted');
  other = folder.authority('other');
  const file = (name: string): string => join(folder.folder, name);
  server = { cert: file('server.pem'), key: file('server.key'), ca: file('server-ca.pem') };
  broken = file('broken.pem');
  writeFileSync(broken, readFileSync(trusted.ca, 'utf8').slice(0, 200));
  own = { cert: file('own.pem'), key: file('own.key'), ca: file('own-ca.pem') };
});
afterAll(() => folder.remove());

/** What servers and gateway find in their files from now on. */
function present(authority: Authority, names?: string): void {
  const issued = authority.issue('server', names);
  for (const [target, source] of [
    [server.cert, issued.cert],
    [server.key, issued.key],
    [server.ca, authority.ca],
  ] as const)
    copyFileSync(source, target);
  trust(authority);
}
function trust(authority: Authority, client = authority): void {
  const issued = client.issue('client');
  folder.replace(own.cert, issued.cert);
  folder.replace(own.key, issued.key);
  folder.replace(own.ca, authority.ca);
}

/** The beginning of a file that is still being written. */
let broken: string;

const settings = (more: Partial<TlsConfig> = {}): TlsConfig => ({ caFile: own.ca, certFile: own.cert, keyFile: own.key, serverName: null, ...more });
const bare = (more: Partial<TlsConfig>): TlsConfig => ({ caFile: null, certFile: null, keyFile: null, serverName: null, ...more });

/** What was logged, texts of errors and their causes included. */
function listen(): { logger: Logger; said: string[] } {
  const said: string[] = [];
  const textOf = (error: unknown): string => (error instanceof Error ? `${error.message} ${textOf(error.cause ?? '')}` : String(error));
  const log = (fields: { error?: unknown }, message: string): void => void said.push(`${message} ${textOf(fields.error ?? '')}`);
  return { logger: { trace: log, debug: log, info: log, warn: log, error: log, fatal: log } as unknown as Logger, said };
}

/** One way to a server: `connect` resolves whether it can be used now. */
interface Client {
  works(): Promise<boolean>;
  /** Why not, as an operator reads it. */
  said(): string;
  close(): Promise<void>;
}

interface Kind {
  available: boolean;
  /** Takes TLS with a client's certificate alone, from the files of `server`. */
  start(): Promise<void>;
  startPlain(): Promise<void>;
  /** Stops, and starts with what the files hold now. */
  restart(): Promise<void>;
  stop(): Promise<void>;
  connect(tls: TlsConfig): Promise<Client>;
}

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

function nats(): Kind {
  let one: NatsServer;
  return {
    available: natsAvailable('TLS towards NATS'),
    async start() {
      one = await startNatsServer({ extraArguments: ['--tlsverify', `--tlscert=${server.cert}`, `--tlskey=${server.key}`, `--tlscacert=${server.ca}`] });
    },
    async startPlain() {
      one = await startNatsServer();
    },
    restart: () => one.restart(),
    stop: () => one.dispose(),
    async connect(tls) {
      const { logger, said } = listen();
      readTlsFiles('NATS', tls, logger);
      const bus = await connectNatsBus({ url: one.url, name: 'edge', logger, maxBodiesBytes: 1024 * 1024, tls: natsFiles(tls) });
      return { works: async () => bus.connected, said: () => said.join('\n'), close: () => bus.drain() };
    },
  };
}

function postgres(): Kind {
  let one: TestPostgres;
  let url: string;
  const begin = async (secured: boolean): Promise<void> => {
    one = await openTestPostgres(secured ? { tls: server } : {});
    url = await one.createDatabase();
  };
  return {
    available: postgresAvailable(),
    start: () => begin(true),
    startPlain: () => begin(false),
    restart: () => one.restart!(),
    stop: () => one.stop(),
    async connect(tls) {
      const { logger, said } = listen();
      const storage = openStorage({ mode: 'postgresql', url: `${url}?sslmode=disable`, tls: readTlsFiles('DATABASE', tls, logger) }, { logger });
      const works = (): Promise<boolean> =>
        storage.ping().then(
          () => true,
          (error: unknown) => {
            for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) said.push(cause.message);
            return false;
          },
        );
      return { works, said: () => said.join('\n'), close: () => storage.close() };
    },
  };
}

function redis(): Kind {
  let one: RedisServer;
  let port: number;
  return {
    available: redisAvailable('TLS towards Redis'),
    async start() {
      port = await freePort();
      const files = ['--tls-cert-file', server.cert, '--tls-key-file', server.key, '--tls-ca-cert-file', server.ca];
      one = await startRedisServer({ own: true, extraArguments: ['--tls-port', String(port), ...files] });
    },
    async startPlain() {
      one = await startRedisServer({ own: true });
      port = Number(new URL(one.url).port);
    },
    async restart() {
      await one.kill();
      await one.start();
    },
    stop: () => one.dispose(),
    async connect(tls) {
      const { logger, said } = listen();
      const url = `redis://127.0.0.1:${port}`;
      const state = new RedisState({ url, tls: readTlsFiles('REDIS', tls, logger), logger, commandMs: 5000, holder: 'test', replicas: () => 1 });
      await state.start();
      return { works: async () => !state.status().degraded, said: () => said.join('\n'), close: () => state.close() };
    },
  };
}

const refusal = /self-signed certificate|unable to (?:get|verify)/i;

describe.each([
  ['NATS', nats],
  ['PostgreSQL', postgres],
  ['Redis', redis],
] as const)('%s', (_name, create) => {
  const kind = create();
  const connect = async (tls: TlsConfig): Promise<Client> => {
    const client = await kind.connect(tls);
    opened.push(client);
    return client;
  };
  /** Asked again until it is so: clients connect in the background. */
  const comes = async (client: Client, what: string): Promise<void> => {
    let works = false;
    await until(() => {
      void client.works().then((now) => {
        works ||= now;
      });
      return works;
    }, what);
  };
  const said = (client: Client, why: RegExp): Promise<void> =>
    until(() => {
      void client.works();
      return why.test(client.said());
    }, `it is said why: ${why}`);
  const isRefused = async (client: Client, why: RegExp): Promise<void> => {
    await said(client, why);
    expect(await client.works()).toBe(false);
  };

  describe('with TLS', () => {
    beforeAll(async () => {
      present(trusted);
      await kind.start();
    });
    afterAll(() => kind.stop());

    test('its authority and a certificate of our own: connected', async () => comes(await connect(settings()), 'the connection'));

    test('another authority: refused, and said so in one line', async () => {
      trust(other, trusted);
      await isRefused(await connect(settings()), refusal);
      trust(trusted);
    });

    test('without a certificate of our own: refused by the server', async () => {
      const client = await connect(bare({ caFile: own.ca }));
      await said(client, /./);
      expect(await client.works()).toBe(false);
    });

    test('a name that the certificate is not for: refused; the name it is for: connected', async () => {
      await isRefused(await connect(settings({ serverName: 'elsewhere.test' })), /elsewhere\.test|altnames|does not match/i);
      await comes(await connect(settings({ serverName: 'service.test' })), 'the connection');
    });

    test('authority and certificates are renewed: the next connection uses them', async () => {
      const client = await connect(settings());
      await comes(client, 'the first connection');
      present(other);
      await kind.restart();
      await comes(await connect(settings()), 'a new connection');
      await comes(client, 'the old one again');
      present(trusted);
      await kind.restart();
    });

    test('a renewal that is half written, or whose key is another certificate’s: said so, and connected once it is whole', async () => {
      const client = await connect(settings());
      await comes(client, 'the first connection');
      folder.replace(own.key, other.issue('stranger').key);
      folder.replace(own.ca, broken);
      await kind.restart();
      await said(client, /TLS/);
      trust(trusted);
      await comes(client, 'the connection by whole files');
    });
  });

  test('a server without TLS is refused', async () => {
    await kind.startPlain();
    try {
      const client = await connect(settings());
      await said(client, /./);
      expect(await client.works()).toBe(false);
    } finally {
      await kind.stop();
    }
  });
});

test('files that cannot be used stop the start, with one line', () => {
  const { logger } = listen();
  const text = join(folder.folder, 'text.pem');
  writeFileSync(text, randomBytes(32).toString('hex'));
  const lineOf = (tls: TlsConfig): string => {
    try {
      readTlsFiles('REDIS', tls, logger);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  expect(lineOf(bare({ caFile: '/nowhere/ca.pem' }))).toBe('REDIS_TLS_CA_FILE "/nowhere/ca.pem" cannot be read (ENOENT); accepted: a readable PEM file');
  expect(lineOf(bare({ caFile: text }))).toBe('REDIS_TLS_CA_FILE holds what cannot be used for TLS; accepted: one or more PEM certificates');
  expect(lineOf(bare({ certFile: own.cert, keyFile: other.issue('stranger').key }))).toMatch(/^REDIS_TLS_CERT_FILE holds what cannot be used/);
  expect(lineOf(settings())).toBe('');
});
