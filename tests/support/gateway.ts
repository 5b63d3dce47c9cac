/** A whole gateway for suites, as an operator would run it: real processes in either arrangement, configured through its console API. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AccessKeyInput,
  type BalancerPin,
  holdsMasterKey,
  type KeyGroupInput,
  type LoadBalancerInput,
  type McpServerInput,
  type ModelInput,
  type RequestRow,
  type UpstreamInput,
} from '@model-gateway/contracts';
import { mintAccessKey } from '@model-gateway/secrets';
import { endWithWorker } from './end-with-worker.ts';
import { type HeldConnection, openHeldConnection } from './held-connection.ts';
import { GatewayProcess, type ManagedProcess } from './managed-process.ts';
import { type NatsServer, natsWay, startNatsServer } from './nats-server.ts';
import { tester, writeNatsUsers } from './nats-users.ts';
import { openTestPostgres, postgresAvailable, type TestPostgres } from './postgres.ts';

/**
 * `split`: every service a process of its own. `data-plane`: edge, router and translator in one process. `workers`: one gateway whose requests are served
 * by two processes behind one port.
 */
export type Arrangement = 'embedded' | 'split' | 'data-plane' | 'workers';
export type SplitService = 'stats' | 'console' | 'router' | 'translator' | 'edge' | 'data-plane' | 'script-runner' | 'mcp-aggregator';
const processesOf = {
  split: ['stats', 'console', 'router', 'translator', 'edge'],
  'data-plane': ['stats', 'console', 'data-plane'],
} as const satisfies Partial<Record<Arrangement, readonly SplitService[]>>;
/** How many processes serve requests in the arrangement `workers`. */
export const workerCount = 2;

export interface GatewayOptions {
  arrangement: Arrangement;
  /** More of `gateway.toml`: sections by name, keys by name. The drain's keys are set already. */
  toml?: Record<string, Record<string, string | number | boolean>>;
  /** For every process. */
  env?: Record<string, string>;
  /** Split: with the service that runs scripts, which no other suite needs. */
  scripts?: boolean;
  /** Split: with the service of MCP tools. */
  mcp?: boolean;
  /** Split: a second process of each of these, named `edge-2` and the like. */
  twice?: readonly SplitService[];
  /** Split: what this service sends to NATS can be held. */
  held?: SplitService;
}

export interface Configuration {
  upstreams?: UpstreamInput[];
  models?: ModelInput[];
  load_balancers?: LoadBalancerInput[];
  load_balancer_pins?: BalancerPin[];
  mcp_servers?: McpServerInput[];
  key_groups?: KeyGroupInput[];
  access_keys?: AccessKeyInput[];
}

export interface ConsoleReply {
  status: number;
  headers: Headers;
  /** Parsed when it is JSON, else its text. */
  // biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
  body: any;
}

export interface TestGateway {
  readonly arrangement: Arrangement;
  /** Of the public port, without a trailing slash. */
  readonly url: string;
  /** Of every edge, the first one first. */
  readonly edgeUrls: readonly string[];
  readonly consoleUrl: string;
  readonly consoleKey: string;
  /** An access key of the group `everyone`, which grants every model. */
  readonly key: string;
  /** By service; embedded, all services are the one process `gateway`. */
  readonly processes: Readonly<Record<string, ManagedProcess>>;
  /** The bus server of the split arrangement. */
  readonly nats?: NatsServer;
  /** Its address with credentials that may do everything. */
  readonly busUrl?: string;
  /** The way of the service that `held` names. */
  readonly held?: HeldConnection;
  /** The console's and the statistics' database server of the split arrangement. */
  readonly postgres?: TestPostgres;
  /** Address of its database in there. */
  readonly databaseUrl?: string;
  /** Folder of its files: `gateway.toml`, and what each process keeps, by its name. */
  readonly home: string;
  /** Creates or replaces what is named, and waits until requests see it. */
  configure(configuration: Configuration): Promise<void>;
  /** One call of the console API; `path` follows `/console/api`. */
  console(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ConsoleReply>;
  /** Waits until requests see every change that was answered before, whichever edge they come to. */
  settle(): Promise<void>;
  /** The row of a request, by minted id or `z-request-id`; waits for it. */
  row(requestId: string): Promise<RequestRow>;
  /** All rows of this gateway so far, newest first, without those of `settle`. */
  rows(): Promise<RequestRow[]>;
  /** Throws when a process logged a fatal line or ended by itself. */
  checkProcesses(): void;
  /** Stops everything and removes its files; then fails as `checkProcesses` does. */
  stop(): Promise<void>;
}

/** Whether the split arrangement can run here. Says so loudly when not, and fails under `CI=true`: a suite that silently does not run proves nothing. */
export function splitAvailable(suite: string): boolean {
  const missing = [...(natsWay() ? [] : ['nats-server']), ...(postgresAvailable() ? [] : ['PostgreSQL'])];
  if (missing.length === 0) return true;
  const message = `${suite} DID NOT RUN in the split arrangement: no ${missing.join(' and no ')} on this machine`;
  if (process.env['CI'] === 'true') throw new Error(message);
  process.stderr.write(`${message}\n`);
  return false;
}

const known: readonly Arrangement[] = ['embedded', 'workers', 'data-plane', 'split'];
const needServers: readonly Arrangement[] = ['data-plane', 'split'];

/** The arrangements that can run here, for `describe.each`; `ARRANGEMENTS=workers,data-plane` runs a suite in others. */
export function arrangements(suite: string, wanted: readonly Arrangement[] = ['embedded', 'split']): Arrangement[] {
  const asked = process.env['ARRANGEMENTS']?.split(',');
  const chosen = asked === undefined ? wanted : known.filter((one) => asked.includes(one));
  return chosen.some((one) => needServers.includes(one)) && !splitAvailable(suite) ? chosen.filter((one) => !needServers.includes(one)) : [...chosen];
}

/** Every way to run a gateway, for suites that look at what differs among them. */
export const allArrangements = (suite: string): Arrangement[] => arrangements(suite, ['embedded', 'data-plane', 'split']);

/** Starts it, ready and with one access key. Rejects after cleaning up what had started. */
export async function startGateway(options: GatewayOptions): Promise<TestGateway> {
  const gateway = new Gateway(options);
  try {
    await gateway.start();
    return gateway;
  } catch (error) {
    await gateway.cleanUp();
    throw error;
  }
}

const failed = Symbol.for('model-gateway.suite-failed');
/** Whether a test of the running suite has failed; `tests/runner/environment.mjs` notes it. */
const suiteFailed = (): boolean => (globalThis as { [failed]?: boolean })[failed] === true;

/** Of this worker: borrowed gateways that no suite uses at the moment. */
const idle: Gateway[] = [];

/**
 * A gateway of the default settings, with the service of MCP tools, that earlier suites of this worker may have used. `stop` puts its configuration back and
 * keeps it for the next suite, unless a test failed or one of its processes was signalled. For suites that look at nothing but what they made themselves:
 * requests by their id or since they borrowed it, entities by name, and no lists, sums or logs of all time.
 */
export async function borrowGateway({ arrangement }: { arrangement: Arrangement }): Promise<TestGateway> {
  const at = idle.findIndex((one) => one.arrangement === arrangement);
  const gateway = at < 0 ? new Gateway({ arrangement, mcp: true }) : idle.splice(at, 1)[0]!;
  try {
    if (at < 0) await gateway.start();
    // What went wrong since its last suite ended must not be lost.
    gateway.checkProcesses();
    return await gateway.lend();
  } catch (error) {
    await gateway.cleanUp();
    throw error;
  }
}

/** Marks the calls that `settle` makes for itself. */
const settling = 'settling';

class Gateway implements TestGateway {
  readonly arrangement: Arrangement;
  readonly consoleKey = `console-${randomBytes(16).toString('hex')}`;
  readonly key = mintAccessKey();
  readonly processes: Record<string, GatewayProcess> = {};
  nats?: NatsServer;
  busUrl?: string;
  held?: HeldConnection;
  postgres?: TestPostgres;
  databaseUrl?: string;
  readonly home = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  readonly #options: GatewayOptions;
  #marks = 0;
  /** Once it was kept for another suite: undoes what ends it with this process. */
  #leave: (() => void) | undefined;
  /** While it is borrowed: since when, and from which revision of the configuration. */
  #loan: { since: number; revision: number } | undefined;

  constructor(options: GatewayOptions) {
    this.arrangement = options.arrangement;
    this.#options = options;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.processes['edge'] ?? this.processes['data-plane'] ?? this.processes['gateway'])?.ports[0]}`;
  }

  get edgeUrls(): readonly string[] {
    const second = this.processes['edge-2'] ?? this.processes['data-plane-2'];
    return [this.url, ...(second ? [`http://127.0.0.1:${second.ports[0]}`] : [])];
  }

  get consoleUrl(): string {
    return `${this.url}/console/api`;
  }

  /** Until `stop`. */
  async lend(): Promise<this> {
    // Connections that it has closed meanwhile are found out here.
    await until(async () => {
      this.#loan = { since: Date.now(), revision: await this.#revision() };
      return true;
    }, 'a borrowed gateway to answer');
    for (const one of Object.values(this.processes)) one.forgetLines();
    return this;
  }

  async #revision(): Promise<number> {
    const { status, body } = await this.console('GET', '/history?limit=1');
    if (status !== 200) throw new Error(`the console gave no history: ${JSON.stringify(body)}`);
    return body.revision;
  }

  async start(): Promise<void> {
    const toml = join(this.home, 'gateway.toml');
    const { server = {}, ...sections } = this.#options.toml ?? {};
    writeFileSync(toml, printToml({ server: { lame_duck_seconds: 0, drain_seconds: 2, ...server }, ...sections }));
    const shared = {
      CONFIG_FILE: toml,
      HOST: '127.0.0.1',
      LOG_LEVEL: process.env['TEST_LOG'] ?? 'info',
      CONSOLE_SECRET_KEY: this.consoleKey,
    };
    const secret = { GATEWAY_MASTER_KEY: randomBytes(32).toString('base64') };
    if (this.arrangement === 'embedded') this.#plan('gateway', ['up'], { ...shared, ...secret });
    else if (this.arrangement === 'workers') this.#plan('gateway', ['up', '--workers', `${workerCount}`], { ...shared, ...secret });
    else await this.#planSplit(processesOf[this.arrangement], shared, secret);
    const starts = await Promise.allSettled(Object.values(this.processes).map((one) => one.start()));
    for (const start of starts) if (start.status === 'rejected') throw start.reason;
    await until(async () => (await fetch(`${this.url}/readyz`)).ok, 'the edge to be ready');
    await this.configure({ key_groups: [{ name: 'everyone', models: ['*'] }], access_keys: [{ name: 'caller', group: 'everyone', key: this.key }] });
  }

  async #planSplit(services: readonly SplitService[], shared: Record<string, string>, secret: Record<string, string>): Promise<void> {
    const users = writeNatsUsers(this.home);
    const [nats, postgres] = await Promise.allSettled([startNatsServer(users.server), openTestPostgres()]);
    if (nats.status === 'fulfilled') this.nats = nats.value;
    if (postgres.status === 'fulfilled') this.postgres = postgres.value;
    for (const one of [nats, postgres]) if (one.status === 'rejected') throw one.reason;
    this.databaseUrl = await this.postgres!.createDatabase();
    const database = { STORAGE_MODE: 'postgresql', DATABASE_URL: this.databaseUrl };
    const url = this.nats!.url;
    this.busUrl = this.nats!.managed ? users.urlFor(url, tester) : url;
    const { scripts, mcp, held } = this.#options;
    const urlOf = (service: string): string => (this.nats!.managed ? users.urlFor(url, service) : url);
    if (held) this.held = await openHeldConnection(urlOf(held));
    // As it is deployed: whatever a service does on the bus beyond its subjects fails here.
    const env = (service: string) => ({
      ...shared,
      ...(holdsMasterKey(service) && secret),
      ...database,
      NATS_URL: service === held ? this.held!.url : urlOf(service),
      NATS_PERMISSIONS: this.nats!.managed ? 'require' : 'warn',
    });
    for (const name of [...services, ...(scripts ? (['script-runner'] as const) : []), ...(mcp ? (['mcp-aggregator'] as const) : [])])
      this.#plan(name, ['serve', name], env(name));
    for (const name of this.#options.twice ?? []) this.#plan(`${name}-2`, ['serve', name], env(name));
  }

  #plan(name: string, args: string[], env: Record<string, string>): void {
    const folder = join(this.home, name);
    mkdirSync(folder);
    this.processes[name] = new GatewayProcess({
      name,
      args,
      ports: 2,
      env: ([port, probe]) => ({ ...env, DATA_DIR: folder, PORT: `${port}`, PROMETHEUS_PORT: `${probe}`, ...this.#options.env }),
      readyUrl: ([, probe]) => `http://127.0.0.1:${probe}/readyz`,
    });
  }

  async console(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<ConsoleReply> {
    const reply = await fetch(`${this.consoleUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.consoleKey}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, body: reply.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text };
  }

  async configure(configuration: Configuration): Promise<void> {
    const reply = await this.console('POST', '/import', configuration);
    if (reply.status !== 200) throw new Error(`the console refused the configuration: ${JSON.stringify(reply.body)}`);
    await this.settle();
  }

  async settle(): Promise<void> {
    // Snapshots are whole: once a key made now is known, so is everything before it.
    const key = mintAccessKey();
    const name = `mark-${this.#marks++}`;
    const made = await this.console('POST', '/access-keys', { name, group: 'everyone', key });
    if (made.status !== 201) throw new Error(`the console refused a key: ${JSON.stringify(made.body)}`);
    for (const url of this.edgeUrls)
      await until(
        async () => (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}`, 'z-request-id': settling } })).ok,
        'the edge to see the configuration',
      );
  }

  async row(requestId: string): Promise<RequestRow> {
    let row: RequestRow | undefined;
    await until(async () => {
      const { body } = await this.console('GET', `/logs?request_id=${encodeURIComponent(requestId)}`);
      row = body.items?.[0];
      return row !== undefined;
    }, `the row of ${requestId}`);
    return row as RequestRow;
  }

  async rows(): Promise<RequestRow[]> {
    const rows: RequestRow[] = [];
    const since = this.#loan ? `&from=${new Date(this.#loan.since).toISOString()}` : '';
    let cursor: string | null = null;
    do {
      const { status, body } = await this.console('GET', `/logs?limit=500${since}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
      if (status !== 200) throw new Error(`the console gave no rows: ${JSON.stringify(body)}`);
      rows.push(...(body.items as RequestRow[]).filter((row) => row.client_request_id !== settling));
      cursor = body.next_cursor;
    } while (cursor !== null);
    return rows;
  }

  checkProcesses(): void {
    const faults = Object.values(this.processes).flatMap((one) => one.faults);
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }

  async stop(): Promise<void> {
    if (await this.#giveBack()) return;
    await this.cleanUp();
    this.checkProcesses();
  }

  /** Whether the next suite can have it. */
  async #giveBack(): Promise<boolean> {
    const loan = this.#loan;
    this.#loan = undefined;
    if (loan === undefined || suiteFailed() || Object.values(this.processes).some((one) => one.signalled || one.faults.length > 0)) return false;
    // A server that does not end with this process is to be left as it was.
    if ((this.nats && !this.nats.unref) || (this.postgres && !this.postgres.unref)) return false;
    try {
      if ((await this.#revision()) !== loan.revision) {
        const { status } = await this.console('POST', `/history/${loan.revision}/rollback`);
        if (status !== 200) return false;
      }
    } catch {
      return false;
    }
    this.#keep();
    idle.push(this);
    return true;
  }

  /** It ends with this process, and does not hold it up. */
  #keep(): void {
    if (this.#leave) return;
    const { nats, postgres } = this;
    const processes = Object.values(this.processes);
    for (const one of [...processes, nats, postgres]) one?.unref?.();
    const pids = [...processes.map(({ pid }) => pid), nats?.pid, postgres?.pid];
    this.#leave = endWithWorker(
      pids.filter((pid) => typeof pid === 'number'),
      [this.home, nats?.store, postgres?.home].filter((folder) => typeof folder === 'string'),
    );
  }

  /** In the order in which traffic flows, so that nobody waits for one that is gone. */
  async cleanUp(): Promise<void> {
    this.#leave?.();
    const { edge, 'data-plane': dataPlane, ...others } = this.processes;
    await Promise.all([edge?.kill('SIGTERM'), dataPlane?.kill('SIGTERM')]);
    await Promise.all(Object.values(others).map((one) => one.kill('SIGTERM')));
    this.held?.close();
    await this.nats?.dispose();
    await this.postgres?.stop();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Polls until `check` says yes; a rejection (a refused connection) is a no. */
export async function until(check: () => Promise<boolean>, what: string, ms = 30_000): Promise<void> {
  const deadline = Date.now() + ms;
  let cause: unknown;
  for (;;) {
    try {
      if (await check()) return;
    } catch (error) {
      cause = error;
    }
    if (Date.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`, { cause });
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

const printToml = (sections: Record<string, Record<string, string | number | boolean>>): string =>
  Object.entries(sections)
    .map(
      ([name, keys]) =>
        `[${name}]\n${Object.entries(keys)
          .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
          .join('')}`,
    )
    .join('\n');
