/** A console over a real database, behind a real HTTP server, and a client that remembers every byte that was answered. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Bus, createMemoryBus } from '@model-gateway/bus';
import { type ConsoleConfig, loadConfig } from '@model-gateway/config';
import { createKeyring, generateMasterKey, type Keyring } from '@model-gateway/secrets';
import { openStorage, type Storage } from '@model-gateway/storage';
import { createLogger } from '@model-gateway/telemetry';
import { createOutbound } from '@model-gateway/upstream-client';
import { silent } from '../../../packages/storage/test/engines.ts';
import { type Console, type ConsoleDeps, createConsole } from '../src/index.ts';
import { type AnswerChecker, createAnswerChecker } from './document.ts';

export const secretKey = 'console-secret-for-tests-0123456789';

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  body: any;
  text: string;
  headers: Headers;
}

export interface Harness {
  url: string;
  bus: Bus;
  console: Console;
  keyring: Keyring;
  /** Everything that was answered and logged so far. */
  seen: string[];
  /** Every answer is held against the API's document. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  close(): Promise<void>;
}

interface Options {
  secret?: string | null;
  keyring?: Keyring;
  config?: Partial<ConsoleConfig>;
  deps?: Partial<ConsoleDeps>;
  /** Where it listens. Default: any that is free. */
  port?: number;
}

/** By the document's text: suites start many consoles with the same. */
const checkers = new Map<string, AnswerChecker>();
/** By what a console is given: one that is given the same prints the same document, which takes it a tenth of a second. */
const checkersByOptions = new Map<string, AnswerChecker | null>();

async function checkerOf(url: string, { secret, config = {}, deps = {} }: Options): Promise<AnswerChecker | null> {
  const given = JSON.stringify([secret, Object.keys(config), Object.keys(deps)]);
  const known = checkersByOptions.get(given);
  if (known !== undefined) return known;
  const checker = await readChecker(url);
  checkersByOptions.set(given, checker);
  return checker;
}

/** null: the secret key is not let in, so that the document cannot be read. */
async function readChecker(url: string): Promise<AnswerChecker | null> {
  const answer = await fetch(`${url}${api}/openapi.json`, { headers: { authorization: `Bearer ${secretKey}` } });
  const text = await answer.text();
  if (answer.status !== 200) return null;
  const checker = checkers.get(text) ?? createAnswerChecker(JSON.parse(text));
  checkers.set(text, checker);
  return checker;
}

export type FreshHarness = Harness & { storage: Storage };

/** Over an empty database in memory, which goes with it. */
export async function startFreshConsole(): Promise<FreshHarness> {
  const storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: silent });
  const harness = await startConsole(storage);
  return {
    ...harness,
    storage,
    async close() {
      await harness.close();
      await storage.close();
    },
  };
}

export async function startConsole(storage: Storage, options: Options = {}): Promise<Harness> {
  const seen: string[] = [];
  const logger = createLogger({ level: 'trace', name: 'test', destination: { write: (line) => void seen.push(line) } });
  const bus = createMemoryBus({ strict: true, logger });
  const keyring = options.keyring ?? createKeyring(generateMasterKey());
  const timeouts = { connect_ms: 2_000, first_byte_ms: 5_000, idle_ms: 5_000, total_ms: 10_000 };
  const outbound = createOutbound({ allowPrivate: true, timeouts, userAgent: 'test', logger });
  const { console: defaults, sso } = loadConfig({ env: { CONFIG_FILE: '/dev/null' } });
  const config = { ...defaults, secretKey: options.secret === undefined ? secretKey : options.secret, ...options.config };
  const console = createConsole({ bus, storage, keyring, outbound, config, sso, logger, ...options.deps });
  await console.start();
  // What stats does in a whole gateway.
  const keeper = bus.listenDurably('audit.record', (batch) => storage.audit.insertRows(batch.map(({ event }) => event)), { maxWaitMs: 1 });
  // Node closes idle connections after 5 s, which on a busy machine is the moment at which `fetch` sends the next request on one.
  const server: Server = createServer({ keepAliveTimeout: 75_000 }, console.handle);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const checker = await checkerOf(url, options);
  return {
    url,
    bus,
    console,
    keyring,
    seen,
    async call(method, path, body, headers = {}) {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${secretKey}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      seen.push(text, JSON.stringify([...response.headers]));
      const isJson = response.headers.get('content-type')?.includes('application/json');
      const parsed = isJson ? JSON.parse(text) : undefined;
      const shown = { method, path, status: response.status, type: response.headers.get('content-type'), body: isJson ? parsed : text };
      if (path.startsWith('/console/api') || path.startsWith('/access-keys')) checker?.check(shown);
      return { status: response.status, text, body: parsed, headers: response.headers };
    },
    async close() {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      await console.stop();
      await keeper.dispose();
      await bus.drain();
      await outbound.close(0);
    },
  };
}

export const api = '/console/api';

/** One of each, by the API. */
export async function seed({ call }: Harness): Promise<{ key: string }> {
  const ok = async (path: string, body: unknown) => {
    const answer = await call('POST', `${api}/${path}`, body);
    if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`);
    return answer.body;
  };
  await ok('upstreams', {
    name: 'main',
    protocol: 'alpha',
    base_url: 'https://api.example.com/v1',
    api_keys: [{ key: 'canary-upstream-one', weight: 2 }, { key: 'canary-upstream-two' }],
  });
  await ok('models', { name: 'fast', upstream: 'main', upstream_model_id: 'vendor-fast-1', aliases: ['quick'] });
  await ok('key-groups', { name: 'team', models: ['*'] });
  return { key: (await ok('access-keys', { name: 'ada', group: 'team' })).key };
}
