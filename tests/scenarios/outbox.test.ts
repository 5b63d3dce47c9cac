/** E10: the one process is killed; what it had answered is in the log all the same but for the last moment, and in the sums once. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { Callers, type Exchange, scriptedModels, sleep } from '../support/callers.ts';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';

/** The journal writes what is not committed within 80 ms. */
const windowMs = 250;
/** What a busy machine adds to that, as callers have felt it lately: how long the slowest of them has waited, up to a time. */
const slowest = (asked: readonly Exchange[], at: number): number =>
  Math.max(
    0,
    ...asked.filter(({ endedAt }) => endedAt === null || endedAt > at - 3000).map(({ startedAt, endedAt }) => Math.min(endedAt ?? at, at) - startedAt),
  );

let upstream: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startGateway({ arrangement: 'embedded' });
  await gateway.configure(scriptedModels(upstream.url, ['ok']));
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

test('kill -9 right after many answers', async () => {
  const callers = new Callers(gateway);
  await callers.untilServed('alpha ok', 60_000);
  for (let round = 0; round < 3; round++) {
    const asked = await Promise.all(Array.from({ length: 40 }, () => callers.ask('alpha', 'alpha ok', { stream: false }).done));
    await sleep(windowMs + 3 * slowest(asked, performance.now()));
    await gateway.processes['gateway']!.kill('SIGKILL');
    await gateway.processes['gateway']!.restart();
    await callers.untilServed('alpha ok', 60_000);
  }
  await callers.checkRows();
  await callers.checkSums();
  callers.close();
});

const answeredBy = ({ ledger }: Callers) => ledger.filter(({ status, ending }) => status === 200 && ending === 'complete');

test('kill -9 under load: only what was answered in the last moment is lost', async () => {
  const callers = new Callers(gateway);
  await callers.untilServed('alpha ok', 60_000);
  const lost: number[] = [];
  for (let round = 0; round < 3; round++) {
    let loading = true;
    const load = Array.from({ length: 8 }, async () => {
      while (loading) await callers.ask('alpha', 'alpha ok', { stream: false }).done;
    });
    await sleep(1_000 + round * 17);
    // A busy machine answers few in a second.
    await until(async () => answeredBy(callers).length > 100, 'calls to be answered');
    const killedAt = performance.now();
    const allowed = windowMs + 3 * slowest(callers.ledger, killedAt);
    await gateway.processes['gateway']!.kill('SIGKILL');
    // Not before: what was answered while the signal was on its way belongs to this round's last moment.
    const from = performance.now();
    loading = false;
    await Promise.all(load);
    await gateway.processes['gateway']!.restart();
    await callers.untilServed('alpha ok', 60_000);
    const answered = answeredBy(callers);
    // Those of before the kill that are not in the log, by how long before it they were answered. What is told again at the start takes a moment.
    let missing = answered;
    for (let look = 0; look < 120 && missing.some(({ endedAt }) => killedAt - (endedAt ?? 0) > allowed); look++) {
      await sleep(250);
      const known = new Set((await gateway.rows()).map(({ client_request_id }) => client_request_id));
      missing = answered.filter(({ id, endedAt }) => endedAt !== null && endedAt <= from && !known.has(id));
    }
    lost.push(...missing.map(({ endedAt }) => Math.round(killedAt - (endedAt ?? 0))).filter((age) => age > allowed));
    expect(answered.length).toBeGreaterThan(100);
    for (const one of missing) callers.ledger.splice(callers.ledger.indexOf(one), 1);
  }
  expect(lost).toEqual([]);
  await callers.checkRows();
  await callers.checkSums();
  callers.close();
});
