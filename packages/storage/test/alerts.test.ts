/** Alerts in both databases: what begins is written once, and a message is sent by one process at a time, once more when its sender died, and no third time. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Storage } from '../src/index.ts';
import { engines } from './engines.ts';

const message = (id: string, more: object = {}) => ({
  id,
  channel: 'hook',
  event: 'budget',
  subject: 'group team',
  quietKey: `budget:${id}`,
  quietMs: 0,
  content: { title: 't', text: 'x', data: { share: 1 } },
  ...more,
});

describe.each(engines())('alerts in $name', (engine) => {
  let one: Storage;
  /** Another process's, where the engine has any. */
  let other: Storage;
  let at = 1_700_000_000_000;
  beforeAll(async () => {
    await engine.start();
    one = await engine.open(() => at);
    other = one;
  });
  afterAll(async () => {
    await one?.close();
    await engine.stop();
  });

  test('a state begins once and ends once, whoever sees it', async () => {
    const begun = await Promise.all([one.alerts.begin('s', [message('a1')]), other.alerts.begin('s', [message('a2')])]);
    expect(begun.filter(Boolean)).toHaveLength(1);
    expect((await one.alerts.list({ limit: 10 })).items).toHaveLength(1);
    expect(await one.alerts.states()).toEqual(new Set(['s']));
    expect(await other.alerts.end('s', [])).toBe(true);
    expect(await one.alerts.end('s', [message('a3')])).toBe(false);
    const [mine, theirs] = await Promise.all([one.alerts.claim(1_000, 10), other.alerts.claim(1_000, 10)]);
    expect(mine.length + theirs.length).toBe(1);
    await one.alerts.settle([...mine, ...theirs][0]!.id, { state: 'sent', retryAt: null, error: null });
    at += 5_000;
    expect(await other.alerts.claim(1_000, 10)).toEqual([]);
  });

  test('a message whose sender died is claimed once more, and then no more', async () => {
    await one.alerts.add([message('b1')]);
    expect(await one.alerts.claim(1_000, 10)).toHaveLength(1);
    at += 500;
    expect(await other.alerts.claim(1_000, 10)).toEqual([]);
    at += 600;
    expect(await other.alerts.claim(1_000, 10)).toMatchObject([{ id: 'b1', attempts: 2 }]);
    at += 2_000;
    expect(await one.alerts.claim(1_000, 10)).toEqual([]);
    expect((await one.alerts.list({ limit: 1 })).items).toMatchObject([{ id: 'b1', state: 'unknown' }]);
  });

  test('the same within its quiet time is held back, and what failed is due again', async () => {
    const same = { quietKey: 'q', quietMs: 60_000 };
    await one.alerts.add([message('c1', same)]);
    await one.alerts.add([message('c2', same)]);
    expect((await one.alerts.claim(1_000, 10)).map(({ id }) => id)).toEqual(['c1']);
    await one.alerts.settle('c1', { state: 'waiting', retryAt: at + 10_000, error: 'answered 503' });
    at += 10_000;
    expect((await one.alerts.claim(1_000, 10)).map(({ id, attempts }) => [id, attempts])).toEqual([['c1', 2]]);
    await one.alerts.settle('c1', { state: 'sent', retryAt: null, error: null });
    at += 60_000;
    await one.alerts.add([message('c3', same)]);
    const { items } = await one.alerts.list({ limit: 3 });
    expect(items.map(({ id, state }) => [id, state])).toEqual([
      ['c3', 'waiting'],
      ['c2', 'quiet'],
      ['c1', 'sent'],
    ]);
  });

  test('what was held back and is still the case is due when the quiet time is over; what ended meanwhile is not', async () => {
    const failing = { quietKey: 'f', quietMs: 60_000 };
    const over = { quietKey: 'r', quietMs: 60_000 };
    const stateOf = async (id: string) => (await one.alerts.list({ limit: 20 })).items.find((item) => item.id === id)?.state;
    const sendDue = async () => {
      const due = await one.alerts.claim(1_000, 10);
      for (const { id } of due) await one.alerts.settle(id, { state: 'sent', retryAt: null, error: null });
      return due.map(({ id }) => id);
    };
    await sendDue();
    await one.alerts.begin('f', [message('f1', failing)]);
    await one.alerts.end('f', [message('r1', over)]);
    expect((await sendDue()).sort()).toEqual(['f1', 'r1']);
    at += 10_000;
    await one.alerts.begin('f', [message('f2', failing)]);
    await one.alerts.end('f', [message('r2', over)]);
    at += 10_000;
    await one.alerts.begin('f', [message('f3', failing)]);
    expect(await sendDue()).toEqual([]);
    expect([await stateOf('f2'), await stateOf('r2'), await stateOf('f3')]).toEqual(['quiet', 'quiet', 'quiet']);
    at += 40_001;
    expect(await sendDue()).toEqual(['f3']);
    // Its beginning was told just now, so that its end is told as well.
    await one.alerts.end('f', [message('r3', over)]);
    expect(await sendDue()).toEqual(['r3']);
    at += 10_000;
    await one.alerts.begin('f', [message('f4', failing)]);
    expect(await stateOf('f4')).toBe('quiet');
  });
});
