/** `up --workers 2`: limits, budgets and rows as one gateway has them, and what becomes of callers when a worker dies, hangs or is renewed. */
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { Callers, clientNames, onEach, scriptedModels, textOf, words } from '../support/callers.ts';
import { startGateway, type TestGateway, until, workerCount } from '../support/gateway.ts';
import { expectProperEnd } from '../support/proper-end.ts';

const short = 'text:40+slow:50';
const long = 'text:100+slow:50';

/** Its reply, by the reference price of its name, costs 0.06 dollars; so much more may be reserved for the request itself. */
const priced = 'gpt-4o';
const [replyTokens, replyMicros, requestMicros] = [6_000, 60_000, 4_000];

let upstream: FakeUpstream;
let gateway: TestGateway;
let callers: Callers;

/** Of the workers that run now. */
async function workerPids(): Promise<number[]> {
  const { stdout } = await promisify(execFile)('pgrep', ['-P', `${gateway.processes['gateway']!.pid}`]).catch(() => ({ stdout: '' }));
  return stdout.trim().split('\n').filter(Boolean).map(Number);
}
/** What the first process says of itself beside being ready. */
async function notes(): Promise<string[]> {
  const probe = gateway.processes['gateway']!.ports[1];
  return ((await (await fetch(`http://127.0.0.1:${probe}/readyz`)).json()) as { notes?: string[] }).notes ?? [];
}
/** Ready ones, by what the first process says. */
const whole = (without: readonly number[] = []) =>
  until(
    async () => {
      const pids = await workerPids();
      return pids.length === workerCount && !pids.some((pid) => without.includes(pid)) && !(await notes()).some((note) => note.startsWith('workers:'));
    },
    'as many workers as there should be',
    60_000,
  );

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startGateway({ arrangement: 'workers', toml: { server: { lame_duck_seconds: 0.3, drain_seconds: 20 } } });
  await gateway.configure(scriptedModels(upstream.url, [short, long, 'ok']));
  const dear = await gateway.console('POST', '/models', { name: priced, upstream: 'alpha', upstream_model_id: `text:${replyTokens}` });
  expect(dear.status).toBe(201);
  callers = new Callers(gateway);
  await callers.untilServed('alpha ok', 60_000);
});
afterAll(async () => {
  callers.close();
  await gateway.stop();
  await upstream.close();
});

const ask = (key: string, model = 'alpha ok', more: object = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], ...more }),
  });
/** The status of one request on the connection of `agent`, and the port of this end of it. */
const askBy = (agent: Agent, key: string): Promise<{ status: number; port: number }> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const asked = request(`${gateway.url}/v1/chat/completions`, { agent, method: 'POST', headers }, (reply) => {
      const port = reply.socket.localPort!;
      reply.resume().on('end', () => resolve({ status: reply.statusCode!, port }));
    });
    asked.on('error', reject).end(JSON.stringify({ model: 'alpha ok', messages: [{ role: 'user', content: 'hi' }] }));
  });
/** Connections that are kept, `count` at each worker: a new one goes to the worker that has fewest, which nobody knows beforehand. */
async function agentsAtEachWorker(count: number): Promise<Agent[][]> {
  const byWorker = new Map((await workerPids()).map((pid) => [pid, [] as Agent[]]));
  const spare: Agent[] = [];
  while ([...byWorker.values()].some((agents) => agents.length < count)) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { status, port } = await askBy(agent, gateway.key);
    expect(status).toBe(200);
    const pid = await holderOf(port, [...byWorker.keys()]);
    const agents = byWorker.get(pid!)!;
    if (agents.length < count) agents.push(agent);
    else spare.push(agent);
    expect(spare.length).toBeLessThan(100);
  }
  for (const agent of spare) agent.destroy();
  return [...byWorker.values()];
}
/** Which of the processes has the connection whose other end is `port`. */
async function holderOf(port: number, pids: readonly number[]): Promise<number | undefined> {
  const ends = [Number(new URL(gateway.url).port), port].map((one) => `:${one.toString(16).toUpperCase().padStart(4, '0')}`);
  const lines = (await Promise.all(['tcp', 'tcp6'].map((table) => readFile(`/proc/net/${table}`, 'utf8')))).join('').split('\n');
  const columns = lines.map((line) => line.trim().split(/\s+/)).find(([, local, remote]) => local?.endsWith(ends[0]!) && remote?.endsWith(ends[1]!));
  for (const pid of pids) {
    const files = await readdir(`/proc/${pid}/fd`);
    const targets = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
    if (targets.includes(`socket:[${columns?.[9]}]`)) return pid;
  }
  return undefined;
}
const made = async (name: string, more: object): Promise<string> => {
  const { status, body } = await gateway.console('POST', '/access-keys', { name, group: 'everyone', ...more });
  expect(status).toBe(201);
  await gateway.settle();
  return body.key as string;
};

test('both workers serve, and the console, its probes and its metrics are those of one gateway', async () => {
  for (let at = 0; at < 10; at++) expect((await ask(gateway.key)).status).toBe(200);
  const text = await gateway.processes['gateway']!.metrics();
  const served = [...text.matchAll(/^gateway_requests_total\{process="(worker-\d+)".*status="200"\} (\d+)$/gm)];
  expect(new Set(served.map(([, name]) => name)).size).toBe(workerCount);
  // Once each, whatever the number of processes.
  expect(text.match(/^# TYPE gateway_requests_total /gm)).toHaveLength(1);
});

test('a limit of requests a minute is exact, whichever worker they come to', async () => {
  const key = await made('limited', { rate_limit: { rpm: 20, window_secs: 3600 } });
  const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await ask(key)).status));
  expect(statuses.filter((status) => status === 200)).toHaveLength(20);
  expect(statuses.filter((status) => status === 429)).toHaveLength(40);
});

test('a budget is spent, and by less than one reservation more, whichever worker the requests come to', async () => {
  const key = await made('budgeted', { budget: { limit: 0.3, period: 'total' } });
  const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await ask(key, priced, { max_tokens: replyTokens })).status));
  expect(new Set(statuses)).toEqual(new Set([200, 402]));
  type Budget = { name: string; spent_micros: number; reserved_micros: number };
  const budget = async (): Promise<Budget | undefined> =>
    (await gateway.console('GET', '/rate-limit-status')).body.budgets.find(({ name }: Budget) => name === 'budgeted');
  await until(async () => (await budget())?.reserved_micros === 0, 'nothing to be reserved any more');
  const spent = (await budget())!.spent_micros;
  expect(spent).toBeGreaterThanOrEqual(300_000);
  expect(spent).toBeLessThan(300_000 + replyMicros + requestMicros);
  const rows = (await gateway.rows()).filter(({ access_key }) => access_key === 'budgeted');
  expect(rows.reduce((sum, { cost_micros }) => sum + (cost_micros ?? 0), 0)).toBe(spent);
});

test('SIGSTOP of the first process, for the first time: all workers together let in no more than the limit', async () => {
  const keys = [
    await made('first-share', { rate_limit: { rpm: 10, window_secs: 3600 } }),
    await made('second-share', { rate_limit: { rpm: 10, window_secs: 3600 } }),
  ];
  // New connections wait for the first process, and a refusal ends its own: one for each request.
  const agents = await agentsAtEachWorker(10 * keys.length);
  const first = gateway.processes['gateway']!.pid!;
  process.kill(first, 'SIGSTOP');
  try {
    for (const [at, key] of keys.entries()) {
      const asking = agents.flatMap((ofOne) => ofOne.slice(10 * at, 10 * (at + 1)).map((agent) => askBy(agent, key)));
      const statuses = (await Promise.all(asking)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(10);
      expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    }
  } finally {
    process.kill(first, 'SIGCONT');
    for (const agent of agents.flat()) agent.destroy();
  }
  await whole();
});

test('SIGSTOP of the first process for three seconds: streams go on, and what came meanwhile is answered', async () => {
  const streams = await callers.streams(20, onEach(long));
  const first = gateway.processes['gateway']!.pid!;
  process.kill(first, 'SIGSTOP');
  const meanwhile = Array.from({ length: 8 }, async () => (await ask(gateway.key)).status);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  process.kill(first, 'SIGCONT');
  await Promise.all(streams.map((one) => one.done));
  for (const one of streams) {
    expectProperEnd(one, false);
    expect(textOf(one)).toBe(words(100));
  }
  // Refused at once rather than lost, where a limit could not be asked for in time.
  for (const status of await Promise.all(meanwhile)) expect([200, 503]).toContain(status);
  await whole();
  expect((await ask(gateway.key)).status).toBe(200);
  await callers.checkRows();
});

describe('workers that end', () => {
  test('SIGHUP under 50 streams: every worker is another, and no stream ends badly', async () => {
    const before = await workerPids();
    const streams = await callers.streams(50, onEach(long));
    process.kill(gateway.processes['gateway']!.pid!, 'SIGHUP');
    await Promise.all(streams.map((one) => one.done));
    for (const one of streams) {
      expectProperEnd(one, false);
      expect(textOf(one)).toBe(words(100));
    }
    await whole(before);
    await callers.checkRows();
  });

  test.each(['SIGKILL', 'SIGSTOP'] as const)('%s of a worker under streams: those of the other go on, newcomers are served, it is replaced', async (signal) => {
    const before = await workerPids();
    const streams = await callers.streams(20, onEach(short));
    process.kill(before[0]!, signal);
    const newcomers = await Promise.all(
      Array.from({ length: 8 }, () => callers.ask(clientNames[0]!, onEach('ok')[0]!, { stream: false, ownConnection: true }).done),
    );
    expect(newcomers.map(({ status }) => status)).toEqual(newcomers.map(() => 200));
    await Promise.all(streams.map((one) => one.done));
    const good = streams.filter((one) => one.ending !== 'broken');
    for (const one of good) {
      expectProperEnd(one, false);
      expect(textOf(one)).toBe(words(40));
    }
    // Those of the other worker, at least.
    expect(good.length).toBeGreaterThanOrEqual(5);
    await whole([before[0]!]);
    const rows = await gateway.rows();
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    // What it held of limits is free again: the next test of them would find it.
    expect((await ask(gateway.key)).status).toBe(200);
  });

  test('while the configuration file is nonsense, a worker that dies is replaced by one with the settings of before, and /readyz says so', async () => {
    const file = join(gateway.home, 'gateway.toml');
    const good = await readFile(file, 'utf8');
    const [dead] = await workerPids();
    await writeFile(file, '[server\nnonsense');
    try {
      process.kill(dead!, 'SIGKILL');
      const replaced = async () => {
        const pids = await workerPids();
        return pids.length === workerCount && !pids.includes(dead!) && (await notes()).join() === 'workers:earlier-settings';
      };
      await until(replaced, 'a worker with the settings of before', 60_000);
      expect((await ask(gateway.key)).status).toBe(200);
    } finally {
      await writeFile(file, good);
    }
    const before = await workerPids();
    process.kill(gateway.processes['gateway']!.pid!, 'SIGHUP');
    await whole(before);
    expect((await ask(gateway.key)).status).toBe(200);
  });
});
