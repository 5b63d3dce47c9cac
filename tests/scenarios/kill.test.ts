/** A18, A19, A21, A23, A27, A29: processes and the bus die under 50 streams; every caller gets a proper end, and every request exactly one row. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { Callers, clientNames, type Exchange, onEach, scriptedModels, sleep, textOf, until, words } from '../support/callers.ts';
import { splitAvailable, startGateway, type TestGateway } from '../support/gateway.ts';
import { leftTheBus } from '../support/gauges.ts';
import { expectProperEnd } from '../support/proper-end.ts';

const short = 'text:60+slow:50';
const long = 'text:600+slow:50';
const count = 50;
/** What a busy machine may add to a promised time by looking on; without its cause a stream goes on for half a minute. */
const busyMs = 5000;
const suite = splitAvailable('kill') ? describe : describe.skip;

suite('split over NATS', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let callers: Callers;

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startGateway({ arrangement: 'split' });
    await gateway.configure(scriptedModels(upstream.url, [short, long, 'ok']));
    callers = new Callers(gateway);
    await callers.untilServed('alpha ok', 60_000);
  });
  afterAll(async () => {
    callers?.close();
    await gateway?.stop();
    await upstream?.close();
  });
  // Only what was asked to end may end.
  afterEach(() => gateway.checkProcesses());

  const killed = async (name: string): Promise<number> => {
    await gateway.processes[name]!.kill('SIGKILL');
    const at = performance.now();
    await until(() => leftTheBus(gateway, name), `the bus to notice that the ${name} is gone`);
    return at;
  };
  /** Served again within the promised 3 s. */
  const servedAgain = async (model: string, ms = 3000): Promise<void> => expect(await callers.untilServed(model, 60_000)).toBeLessThan(ms + busyMs);
  /** All over within `ms` of `since`. */
  async function allEnded(streams: readonly Exchange[], since: number, ms: number): Promise<void> {
    await until(() => streams.every((one) => one.endedAt !== null), 'every stream to end', ms + busyMs).catch(() => {});
    for (const one of streams)
      expect({ who: one.client, took: one.endedAt === null ? 'forever' : one.endedAt - since < ms }).toEqual({ who: one.client, took: true });
  }
  /** Nobody is left to say what these used: their rows, and what is charged for them, go by what was delivered. */
  async function expectEstimates(streams: readonly Exchange[]): Promise<void> {
    const rowOf = async (id: string) => (await gateway.rows()).find((row) => row.client_request_id === id);
    for (const one of streams) {
      await until(async () => (await rowOf(one.id)) !== undefined, 'the row of a broken stream');
      const row = await rowOf(one.id);
      expect(row).toMatchObject({ upstream: expect.any(String), upstream_model_id: long, usage_source: 'estimated' });
      expect(row!.input_tokens).toBeGreaterThan(0);
      // Four bytes of text to a token; events of a word each are a token each.
      const written = textOf(one).length / 4;
      expect(row!.output_tokens).toBeGreaterThanOrEqual(Math.floor(written / 3));
      expect(row!.output_tokens).toBeLessThanOrEqual(written * 3 + 20);
    }
  }
  const expectPrefix = (one: Exchange, whole: string): void => {
    const seen = textOf(one);
    expect(whole.startsWith(seen)).toBe(true);
  };

  test('kill -9 of the translator', async () => {
    const streams = await callers.streams(count, onEach(long));
    const at = await killed('translator');
    const meanwhile = callers.ask('beta', 'beta ok', { stream: false });
    await allEnded(streams, at, 5000 + busyMs);
    for (const one of streams) {
      expectProperEnd(one, true);
      expectPrefix(one, words(600));
    }
    await expectEstimates(streams);
    await meanwhile.done;
    expect(meanwhile.status).toBe(503);
    expect(meanwhile.endedAt! - meanwhile.startedAt).toBeLessThan(5000 + busyMs);
    await gateway.processes['translator']!.restart();
    await servedAgain('gamma ok');
    await callers.checkRows();
    await callers.checkSums();
  });

  test('kill -9 of the router: streams go on as if nothing were', async () => {
    const streams = await callers.streams(count, onEach(short));
    await killed('router');
    const refused = await callers.ask('alpha', 'alpha ok', { stream: false }).done;
    expect(refused.status).toBe(503);
    expect(refused.endedAt! - refused.startedAt).toBeLessThan(5000 + busyMs);
    await gateway.processes['router']!.restart();
    await servedAgain('alpha ok');
    await Promise.all(streams.map((one) => one.done));
    for (const one of streams) {
      expectProperEnd(one, false);
      expect(textOf(one)).toBe(words(60));
    }
    await callers.checkRows();
    await callers.checkSums();
  });

  test('SIGSTOP of the translator for 15 s: ends in time, and nothing of the old streams reaches anyone afterwards', async () => {
    const streams = await callers.streams(count, onEach(long));
    await gateway.processes['translator']!.kill('SIGSTOP');
    const at = performance.now();
    await allEnded(streams, at, 5000 + busyMs);
    for (const one of streams) expectProperEnd(one, true);
    const lengths = streams.map((one) => one.bytes);
    const meanwhile = await callers.ask('beta', 'beta ok', { stream: false }).done;
    expect([502, 503, 504]).toContain(meanwhile.status);
    expect(meanwhile.endedAt! - meanwhile.startedAt).toBeLessThan(6000 + busyMs);
    await sleep(Math.max(0, 15_000 - (performance.now() - at)));
    await gateway.processes['translator']!.kill('SIGCONT');
    await servedAgain('alpha ok', 5000);
    // The same connections are used again: each reply is the whole of its own text and nothing else.
    const fresh = Array.from({ length: count }, (_, at) =>
      callers.ask(clientNames[at % 4]!, `${clientNames[(at >> 2) % 4]} ok`, { content: `nonce-${at}-${'x'.repeat(at)}` }),
    );
    await Promise.all(fresh.map((one) => one.done));
    for (const [at, one] of fresh.entries()) {
      expectProperEnd(one, false);
      expect(textOf(one)).toBe(`nonce-${at}-${'x'.repeat(at)}`);
    }
    expect(streams.map((one) => one.bytes)).toEqual(lengths);
    await until(() => upstream.requests.every((received) => received.closed !== null), 'the old calls of upstreams to be closed');
    await callers.checkRows();
    await callers.checkSums();
  });

  test('nats-server is killed for 5 s', async () => {
    const streams = await callers.streams(count, onEach(long));
    await gateway.nats!.kill();
    const at = performance.now();
    // Until it notices, the edge takes the server for alive.
    await until(async () => (await callers.ask('alpha', 'alpha ok', { stream: false }).done).status === 503, 'calls to be refused');
    const during: Exchange[] = [];
    while (performance.now() - at < 5000 || during.length <= 10) {
      const one = callers.ask(clientNames[during.length % 4]!, 'alpha ok', { stream: during.length % 2 === 0 });
      during.push(one);
      await one.done;
      await sleep(100);
    }
    await gateway.nats!.start();
    await servedAgain('beta ok');
    // Long before the server is back.
    await allEnded(streams, at, 4500);
    for (const one of streams) expectProperEnd(one, true);
    for (const one of during) {
      expect(one.status).toBe(503);
      expect(one.endedAt! - one.startedAt).toBeLessThan(1000 + busyMs);
    }
    await callers.checkRows();
    await callers.checkSums();
  });

  test('console and statistics are killed: callers notice nothing, and rows arrive afterwards', async () => {
    const streams = await callers.streams(count, onEach(short));
    await Promise.all([killed('console'), killed('stats')]);
    for (let at = 0; at < 20; at++) {
      const one = await callers.ask(clientNames[at % 4]!, onEach('ok')[at % 4]!, { stream: at % 2 === 0 }).done;
      expect(one.status).toBe(200);
    }
    await Promise.all(streams.map((one) => one.done));
    for (const one of streams) {
      expectProperEnd(one, false);
      expect(textOf(one)).toBe(words(60));
    }
    await Promise.all([gateway.processes['console']!.restart(), gateway.processes['stats']!.restart()]);
    await callers.checkRows();
    await callers.checkSums();
  });

  test('kill -9 of the edge: sockets close, upstream calls are cancelled, slots are free again', async () => {
    const before = upstream.requests.length;
    const streams = await callers.streams(count, onEach(long));
    const calls = upstream.requests.slice(before);
    expect(calls).toHaveLength(count);
    const at = await killed('edge');
    await allEnded(streams, at, 1000 + busyMs);
    for (const one of streams) expect(one.ending).toBe('broken');
    await until(() => calls.every((call) => call.closed !== null), 'upstream calls to be cancelled');
    for (const call of calls) {
      expect(call.closed!.reason).toBe('left');
      expect(call.closed!.at - at).toBeLessThan(3000 + busyMs);
    }
    await gateway.processes['edge']!.restart();
    await servedAgain('alpha ok');
    await callers.checkRows();
    await callers.checkSums();
  });
});
