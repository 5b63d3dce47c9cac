/**
 * One of two routers or translators is frozen (SIGSTOP) under load: nobody who calls afterwards is failed, nobody waits for long, and what was
 * refused or went elsewhere meanwhile is not done when the process wakes. Nor is it when the edge's own connection to NATS is held up. Short freezes by default; `FREEZES=700,1200,2000,3000,8000,15000,60000`
 * (milliseconds) runs these and prints what callers saw.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { Callers, clientNames, type Exchange, onEach, scriptedModels, textOf, until } from '../support/callers.ts';
import { splitAvailable, startGateway, type TestGateway } from '../support/gateway.ts';
import { frozenFor } from '../support/pauses.ts';
import { expectProperEnd } from '../support/proper-end.ts';

const freezes = (process.env['FREEZES'] ?? '700,2000').split(',').map(Number);
const publishes = process.env['FREEZES'] !== undefined;
const perSecond = Number(process.env['FREEZE_RATE'] ?? (publishes ? 50 : 20));
/** What a busy machine may add to a promised time. */
const busyMs = 1500;
/** Not longer than this, a call counts as undelayed. */
const undelayedMs = 240;
const long = 'text:200+slow:50';
const balanced = 'balanced';
const suite = splitAvailable('frozen processes') ? describe : describe.skip;

suite('a frozen process of two', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let callers: Callers;
  let calls = 0;

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startGateway({ arrangement: 'split', twice: ['router', 'translator'], held: 'edge' });
    await gateway.configure({
      ...scriptedModels(upstream.url, ['ok', long]),
      load_balancers: [{ name: balanced, strategy: 'weighted', entries: onEach('ok').map((model) => ({ model })) }],
    });
    callers = new Callers(gateway);
    await callers.untilServed('alpha ok', 60_000);
    // What the first calls cost is no measure.
    const { made, stop } = load();
    await until(() => made.length >= 4 * perSecond, 'the first calls');
    await stop();
  });
  afterAll(async () => {
    callers?.close();
    await gateway?.stop();
    await upstream?.close();
  });
  afterEach(() => gateway.checkProcesses());

  /** Calls at an even pace, each with a word of its own in it, until it is stopped. */
  function load(): { made: { one: Exchange; nonce: string }[]; stop(): Promise<void> } {
    const made: { one: Exchange; nonce: string }[] = [];
    const call = () => {
      const at = calls++;
      const nonce = `nonce-${at}-nonce`;
      const model = at % 2 === 0 ? balanced : onEach('ok')[(at >> 1) % 4]!;
      made.push({ one: callers.ask(clientNames[at % 4]!, model, { stream: at % 3 === 0, content: nonce }), nonce });
    };
    const began = performance.now();
    const timer = setInterval(() => {
      // Those that a late timer owes come now.
      while (made.length < ((performance.now() - began) * perSecond) / 1000) call();
    }, 1000 / perSecond);
    return {
      made,
      async stop() {
        clearInterval(timer);
        await Promise.all(made.map(({ one }) => one.done));
      },
    };
  }

  const took = ({ startedAt, endedAt }: Exchange): number => endedAt! - startedAt;
  const share = (some: readonly Exchange[]): number => (some.length === 0 ? 0 : some.filter((one) => took(one) > undelayedMs).length / some.length);
  /** How often the upstream received each word. */
  function received(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { body } of upstream.requests)
      for (const nonce of new Set(body.toString().match(/nonce-\d+-nonce/g))) counts.set(nonce, (counts.get(nonce) ?? 0) + 1);
    return counts;
  }

  const cases = ['router', 'translator'].flatMap((name) => freezes.map((ms) => ({ name, ms })));
  test.each(cases)(
    'the $name for $ms ms',
    async ({ name, ms }) => {
      upstream.requests.length = 0;
      const streams = await callers.streams(8, onEach(long));
      const { made, stop } = load();
      await until(() => made.length >= 3 * perSecond, 'load before the freeze');
      await gateway.processes[name]!.kill('SIGSTOP');
      const from = performance.now();
      await frozenFor(ms);
      await gateway.processes[name]!.kill('SIGCONT');
      const to = performance.now();
      const awake = made.length;
      await until(() => made.length >= awake + 3 * perSecond, 'load after the freeze');
      await stop();
      await Promise.all(streams.map((one) => one.done));

      const before = made.filter(({ one }) => one.startedAt < from - 500);
      const after = made.filter(({ one }) => one.startedAt >= from);
      const first = after.filter(({ one }) => one.startedAt < from + 1000);
      const later = after.filter(({ one }) => one.startedAt >= from + 1000 && one.startedAt < to);
      const failed = after.filter(({ one }) => one.status !== 200 || one.ending !== 'complete');
      if (publishes) {
        const worst = (some: typeof made) => Math.round(Math.max(0, ...some.map(({ one }) => took(one))));
        process.stderr.write(
          `${name} ${ms} ms: ${after.length} calls, ${failed.length} failed, ${made.length - after.length - before.length} just before; longest of the first second ${worst(first)} ms, of later ones ${worst(later)} ms, ` +
            `slow ones before ${(share(before.map(({ one }) => one)) * 100).toFixed(1)} %, later ${(share(later.map(({ one }) => one)) * 100).toFixed(1)} %\n`,
        );
      }
      expect(failed.map(({ one, nonce }) => ({ nonce, status: one.status, at: Math.round(one.startedAt - from), text: one.text }))).toEqual([]);
      for (const { one, nonce } of after) expect({ nonce, answered: textOf(one) === nonce || one.text.includes(nonce) }).toEqual({ nonce, answered: true });
      // A machine that is slow without any freeze says nothing of its times.
      const slowAnyway = share(before.map(({ one }) => one)) > 0.1;
      const maxBeforeLength = Math.max(0, ...before.map(({ one }) => took(one)));
      for (const { one } of first) expect(took(one)).toBeLessThan(1500 + busyMs + (slowAnyway ? 10_000 : maxBeforeLength));
      if (!slowAnyway) expect(share(later.map(({ one }) => one))).toBeLessThan(0.25);
      // Those that ran in the frozen process are cut, the others go on; each ends as its protocol says.
      for (const one of streams) expectProperEnd(one, one.text.includes('"_gateway_warning"'));
      const counts = received();
      const twice = made.filter(({ nonce }) => (counts.get(nonce) ?? 0) > 1);
      expect(twice.map(({ nonce, one }) => ({ nonce, status: one.status, at: Math.round(one.startedAt - from) }))).toEqual([]);
      await until(() => upstream.requests.every(({ closed }) => closed !== null), 'the upstream to be left alone');
      await callers.checkRows();
    },
    600_000,
  );

  test('the row of a stream that was cut says how it ended, also when the translator wakes and tells what it did', async () => {
    const streams = await callers.streams(8, onEach(long));
    await gateway.processes['translator']!.kill('SIGSTOP');
    await until(() => streams.some(({ text }) => text.includes('"_gateway_warning"')), 'a stream to be cut');
    await gateway.processes['translator']!.kill('SIGCONT');
    await Promise.all(streams.map((one) => one.done));
    const ids = new Set<string | null>(streams.map(({ id }) => id));
    let rows: Awaited<ReturnType<TestGateway['rows']>> = [];
    await until(async () => {
      rows = (await gateway.rows()).filter(({ client_request_id }) => ids.has(client_request_id));
      return rows.length === streams.length && rows.every(({ authority }) => authority === 2);
    }, 'the rows of what both translators did');
    const endings = new Map(rows.map(({ client_request_id, status, error_code, ending }) => [client_request_id, { status, error_code, ending }]));
    for (const { id, text } of streams) {
      const isCut = text.includes('"_gateway_warning"');
      expect(endings.get(id)).toEqual({ status: 200, error_code: isCut ? 'service_lost' : null, ending: isCut ? 'finish' : null });
    }
  }, 120_000);

  test.each([
    ['sends its requests elsewhere', 800],
    ['gives them up', 1400],
  ])(
    'the connection of an edge that %s is held for %d ms',
    async (_what, ms) => {
      upstream.requests.length = 0;
      const { made, stop } = load();
      await until(() => made.length >= perSecond, 'load before');
      gateway.held!.hold();
      const from = made.length;
      await frozenFor(ms);
      const to = made.length;
      gateway.held!.release();
      await until(() => made.length >= to + 2 * perSecond, 'load afterwards');
      await stop();
      const counts = received();
      const ran = made.map(({ nonce, one }) => ({ nonce, status: one.status, times: counts.get(nonce) ?? 0 }));
      expect(ran.slice(from, to).length).toBeGreaterThan(0);
      expect(ran.filter(({ status, times }) => times !== (status === 200 ? 1 : 0))).toEqual([]);
      expect(ran.slice(to + perSecond).filter(({ status }) => status !== 200)).toEqual([]);
      await callers.checkRows();
    },
    600_000,
  );
});
