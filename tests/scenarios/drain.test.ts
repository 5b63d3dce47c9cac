/** A34, E17: a process that is asked to leave finishes what it began, says so, and ends with code 0; and PostgreSQL may restart under load. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { Callers, clientNames, onEach, scriptedModels, textOf, until, words } from '../support/callers.ts';
import { type Arrangement, allArrangements, splitAvailable, startGateway, type TestGateway } from '../support/gateway.ts';
import { expectProperEnd } from '../support/proper-end.ts';

const short = 'text:40+slow:50';
/** 5 s of words: they outlast the lame duck. */
const long = 'text:100+slow:50';
const lameDuckMs = 3000;
const drainMs = 6000;
const endless = 'pump+slow:100';
let upstream: FakeUpstream;
let gateway: TestGateway;
let callers: Callers;
beforeAll(async () => {
  upstream = await startFakeUpstream();
});
afterAll(() => upstream.close());

async function start(arrangement: Arrangement, server: Record<string, number>): Promise<void> {
  gateway = await startGateway({ arrangement, toml: { server } });
  await gateway.configure(scriptedModels(upstream.url, [short, long, endless, 'ok']));
  callers = new Callers(gateway);
  await callers.untilServed('alpha ok', 60_000);
}
const front = () => (gateway.processes['edge'] ?? gateway.processes['data-plane'] ?? gateway.processes['gateway'])!;
/** The exit code that the process itself announced in its last line. */
const announced = (name: string): unknown => {
  const line = gateway.processes[name]!.logs().findLast((one) => one.includes('"process exits"'));
  return line === undefined ? null : (JSON.parse(line) as { code: number }).code;
};

describe.each(allArrangements('drain'))('%s: the public process', (arrangement) => {
  beforeAll(() => start(arrangement, { lame_duck_seconds: lameDuckMs / 1000, drain_seconds: drainMs / 1000 }));
  afterAll(async () => {
    callers.close();
    await gateway.stop();
  });

  test('SIGTERM under streams: they finish, newcomers in the lame duck are served with Connection: close, then nobody is', async () => {
    const streams = await callers.streams(20, onEach(long));
    const url = gateway.url;
    const leaving = front().kill('SIGTERM');
    let ready = await fetch(`${url}/readyz`);
    await until(async () => {
      if (ready.status === 200) ready = await fetch(`${url}/readyz`);
      return ready.status !== 200;
    }, 'the process to say that it leaves');
    expect([ready.status, await ready.json()]).toEqual([
      503,
      expect.objectContaining({ ready: false, reasons: expect.arrayContaining([expect.stringContaining('draining')]) }),
    ]);
    const newcomer = await callers.ask('beta', 'beta ok', { stream: false }).done;
    expect([newcomer.status, newcomer.headers.connection]).toEqual([200, 'close']);
    const streamed = await callers.ask('alpha', 'beta ok').done;
    expect(streamed.headers.connection).toBe('close');
    expectProperEnd(streamed, false);
    await until(async () => {
      const late = await callers.ask('beta', 'beta ok', { stream: false, ownConnection: true }).done;
      return late.status === null && late.ending === 'broken';
    }, 'newcomers to be refused');
    await leaving;
    for (const one of streams) {
      expectProperEnd(one, false);
      expect(textOf(one)).toBe(words(100));
    }
    expect(announced(front().name)).toBe(0);
    await front().restart();
    await callers.checkRows();
  });

  test('streams that never end are ended properly once drain_seconds are over', async () => {
    const streams = await callers.streams(8, onEach(endless));
    const at = performance.now();
    await front().kill('SIGTERM');
    const took = performance.now() - at;
    expect(took).toBeGreaterThan(lameDuckMs + drainMs - 500);
    expect(took).toBeLessThan(lameDuckMs + drainMs + 10_000);
    await until(() => streams.every((one) => one.endedAt !== null), 'the streams to be over');
    for (const one of streams) expectProperEnd(one, true);
    expect(announced(front().name)).toBe(0);
    await until(() => upstream.requests.every((received) => received.closed !== null), 'the upstream calls to be closed');
    await front().restart();
    await callers.checkRows();
  });

  test('an idle process leaves at once, and idle connections do not hold it', async () => {
    const { hostname, port } = new URL(gateway.url);
    const idle = connect(Number(port), hostname);
    await new Promise((resolve) => idle.once('connect', resolve));
    await callers.untilServed('alpha ok', 60_000);
    const at = performance.now();
    await front().kill('SIGTERM');
    // Without a drain.
    expect(performance.now() - at).toBeLessThan(lameDuckMs + drainMs);
    expect(announced(front().name)).toBe(0);
    idle.destroy();
    await front().restart();
  });
});

(splitAvailable('drain') ? describe : describe.skip)('split: the others', () => {
  beforeAll(() => start('split', { lame_duck_seconds: 0.2, drain_seconds: 8 }));
  afterAll(async () => {
    callers.close();
    await gateway.stop();
  });

  test.each(['router', 'translator'])('SIGTERM of the %s under streams breaks none', async (name) => {
    const streams = await callers.streams(20, onEach(short));
    const leaving = gateway.processes[name]!.kill('SIGTERM');
    await leaving;
    await Promise.all(streams.map((one) => one.done));
    for (const one of streams) {
      expectProperEnd(one, false);
      expect(textOf(one)).toBe(words(40));
    }
    expect(announced(name)).toBe(0);
    await gateway.processes[name]!.restart();
    await callers.untilServed('alpha ok', 60_000);
    await callers.checkRows();
  });

  test('a translator with streams that never end closes them in time and ends with code 0', async () => {
    const streams = await callers.streams(8, onEach(endless));
    await gateway.processes['translator']!.kill('SIGTERM');
    await until(() => streams.every((one) => one.endedAt !== null), 'the streams to be over');
    for (const one of streams) expectProperEnd(one, true);
    expect(announced('translator')).toBe(0);
    await gateway.processes['translator']!.restart();
    await callers.untilServed('alpha ok', 60_000);
    await callers.checkRows();
  });

  test.each(['console', 'stats'])('SIGTERM of the %s: requests go on, rows arrive afterwards', async (name) => {
    const leaving = gateway.processes[name]!.kill('SIGTERM');
    for (let at = 0; at < 12; at++) expect((await callers.ask(clientNames[at % 4]!, onEach('ok')[at % 4]!, { stream: at % 2 === 0 }).done).status).toBe(200);
    await leaving;
    expect(announced(name)).toBe(0);
    await gateway.processes[name]!.restart();
    await callers.checkRows();
  });

  test('PostgreSQL restarts under load: no caller notices, every row is there once', async () => {
    const streams = await callers.streams(20, onEach(short));
    const outcomes: (number | null)[] = [];
    let stop = false;
    const load = Promise.all(
      clientNames.map(async (client) => {
        while (!stop) outcomes.push((await callers.ask(client, `${client} ok`, { stream: false }).done).status);
      }),
    );
    await until(() => outcomes.length > 10, 'the load to begin');
    await gateway.postgres!.kill!();
    const duringOutage = outcomes.length + 40;
    const refused = await gateway.console('POST', '/key-groups', { name: 'during-the-outage' });
    expect(refused.status).toBe(503);
    await until(() => outcomes.length > duringOutage, 'the load to go on without a database');
    await gateway.postgres!.restart!();
    const since = outcomes.length;
    await until(() => outcomes.length > since + 40, 'the load to go on');
    stop = true;
    await load;
    expect(outcomes.filter((status) => status !== 200)).toEqual([]);
    await Promise.all(streams.map((one) => one.done));
    for (const one of streams) expectProperEnd(one, false);
    await callers.checkRows();
    gateway.checkProcesses();
  });
});
