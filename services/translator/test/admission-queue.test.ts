/** The admission queue: fair, callers leave without a trace, and no wait where nothing is limited. */
import { describe, expect, test } from '@jest/globals';
import type { RateLimit, Snapshot } from '@model-gateway/contracts';
import type { Admission, Lease } from '@model-gateway/distributed-state';
import { FairQueue, free, MemoryState } from '@model-gateway/distributed-state';
import { Limiter } from '../src/limits/limiter.ts';

const limit = (own: Partial<RateLimit>): RateLimit => ({
  rpm: null,
  tpm: null,
  max_concurrency: null,
  tps_min_interval_ms: null,
  wait_timeout_secs: 60,
  initial_tokens: 100,
  ...own,
});
const used = () => 0;

describe('fair queue', () => {
  test('keys take turns, and the callers of a key are served in order', () => {
    const queue = new FairQueue<{ key: string; at: number }>();
    const all = ['a', 'a', 'a', 'b', 'c', 'b'].map((key, at) => ({ key, at }));
    for (const one of all) queue.push(one);
    expect(queue.peek(9).map(({ at }) => at)).toEqual([0, 3, 4, 1, 5, 2]);
    queue.remove(all[3]!);
    expect(queue.peek(3).map(({ at }) => at)).toEqual([0, 5, 4]);
    expect(queue.serve(all[0]!)).toBe(true);
    expect(queue.serve(all[0]!)).toBe(false);
    expect(queue.peek(9).map(({ at }) => at)).toEqual([5, 4, 1, 2]);
    expect([queue.size, [...queue].length]).toEqual([4, 4]);
  });
});

describe('limiter', () => {
  const ask = (
    limiter: Limiter,
    accessKey: string,
    options: { rate?: RateLimit; mayWait?: boolean; max?: number; onLeave?: (leave: () => void) => void } = {},
  ) =>
    limiter.acquire(
      { model: { name: 'm', rate_limit: options.rate ?? 'inherit' }, upstream: { name: 'u', rate_limit: null } },
      { accessKey, requestTokens: () => 10, replyTokens: () => options.max, mayWait: options.mayWait ?? true, onLeave: options.onLeave ?? (() => undefined) },
    );

  test('without a limit: the same lease for all, at once', () => {
    const limiter = new Limiter(new MemoryState());
    expect(ask(limiter, 'a')).toBe(free);
    expect(ask(limiter, 'a', { rate: limit({}) })).toBe(free);
  });

  test('tokens: what is not known yet is guessed, then replies are as long as of late, and never longer than the caller wants', () => {
    // The clock stands: what flows in meanwhile would let one more pass.
    const limiter = new Limiter(new MemoryState({ now: () => 0 }));
    const rate = limit({ tpm: 10_000 });
    const passed = (max?: number) => {
      let count = 0;
      const leases: Lease[] = [];
      for (; count < 1_000; count++) {
        const admission = ask(limiter, 'a', { rate, mayWait: false, ...(max !== undefined && { max }) }) as Admission;
        if (admission.limited) break;
        leases.push(admission);
      }
      return { count, leases };
    };
    // 10 of the request and 1,000 of the reply; 10 and 90.
    const unknown = passed();
    expect(unknown.count).toBe(9);
    for (const lease of unknown.leases) lease.release(() => 10 + 490);
    const known = passed();
    expect(known.count).toBe(11);
    for (const lease of known.leases) lease.release(() => 0);
    const modest = passed(90);
    expect(modest.count).toBe(55);
    expect(modest.leases).toHaveLength(55);
  });

  test('a call that was never made is given back, once', () => {
    const limiter = new Limiter(new MemoryState({ now: () => 0 }));
    const rate = limit({ rpm: 2, max_concurrency: 2 });
    const take = () => ask(limiter, 'a', { rate, mayWait: false }) as Admission;
    const [made, unmade] = [take(), take()] as [Lease, Lease];
    expect(take().limited).toBe(true);
    made.release(used);
    made.giveBack();
    expect(take().limited).toBe(true);
    unmade.giveBack();
    unmade.giveBack();
    expect([take().limited, take().limited]).toEqual([false, true]);
  });

  test('a place that is kept: what begins in it counts without having asked, and what was only expected is settled', () => {
    const limiter = new Limiter(new MemoryState({ now: () => 0 }));
    const rate = limit({ rpm: 3, tpm: 10_000, max_concurrency: 2 });
    const take = () => ask(limiter, 'a', { rate, mayWait: false, max: 10 }) as Lease;
    const session = take();
    const place = session.keepPlace();
    session.release(used);
    session.giveBack();
    const [first, second] = [place.begin(), place.begin()];
    const other = take();
    expect([other.limited, take().limited]).toEqual([false, true]);
    other.giveBack();
    // 2,000 were expected: all of the minute's tokens are gone once both have ended.
    first(6_000);
    first(6_000);
    second(6_000);
    expect(take().limited).toBe(true);
    expect(limiter.gates()).toMatchObject([{ held: 1 }]);
    place.release();
    place.release();
    expect(limiter.gates()).toMatchObject([{ held: 0 }]);
    limiter.close();
  });

  test('one key floods, another gets every second turn', async () => {
    const limiter = new Limiter(new MemoryState());
    const rate = limit({ max_concurrency: 1 });
    const first = ask(limiter, 'flood', { rate }) as Lease;
    const served: string[] = [];
    const work = async (key: string) => {
      const admission = await ask(limiter, key, { rate });
      served.push(key);
      if (!admission.limited) admission.release(used);
    };
    const all = [...Array.from({ length: 20 }, () => work('flood')), ...Array.from({ length: 3 }, () => work('modest'))];
    first.release(used);
    await Promise.all(all);
    expect(served.slice(0, 6).filter((key) => key === 'modest')).toHaveLength(3);
    limiter.close();
  });

  test('released once, however often it is called; a caller who leaves is refused and removed', async () => {
    const limiter = new Limiter(new MemoryState());
    const rate = limit({ max_concurrency: 1 });
    const first = ask(limiter, 'a', { rate }) as Lease;
    let leave = (): void => undefined;
    const waiting = ask(limiter, 'b', {
      rate,
      onLeave: (callback) => {
        leave = callback;
      },
    }) as Promise<Admission>;
    leave();
    expect((await waiting).limited).toBe(true);
    first.release(used);
    first.release(used);
    const second = ask(limiter, 'a', { rate });
    expect(second).toMatchObject({ limited: false });
    expect(ask(limiter, 'a', { rate, mayWait: false })).toMatchObject({ limited: true });
    expect(limiter.gates()).toMatchObject([{ scope: 'model:m', held: 1, waiting: 0 }]);
    limiter.close();
  });

  test('a limit that is raised or taken away lets those in line through at once', async () => {
    const limiter = new Limiter(new MemoryState());
    const narrow = limit({ max_concurrency: 1 });
    ask(limiter, 'a', { rate: narrow });
    const line = [ask(limiter, 'a', { rate: narrow }), ask(limiter, 'b', { rate: narrow }), ask(limiter, 'c', { rate: narrow })];
    ask(limiter, 'd', { rate: limit({ max_concurrency: 3 }) });
    expect((await line[0]!).limited).toBe(false);
    expect(ask(limiter, 'd', { rate: limit({}) })).toBe(free);
    expect((await Promise.all(line)).every(({ limited }) => !limited)).toBe(true);
    limiter.close();
  });

  test.each([
    ['of the model', 'narrow', null, { m: { upstream: 'u', rate_limit: limit({ max_concurrency: 4 }) } }, {}],
    ['of the model, which inherits another', 'narrow', null, { m: { upstream: 'u', rate_limit: 'inherit' } }, { u: limit({ max_concurrency: 4 }) }],
    ['of the upstream', 'inherit', 'narrow', { m: { upstream: 'u', rate_limit: 'inherit' } }, { u: limit({ max_concurrency: 4 }) }],
    ['of the upstream, which has none any more', 'inherit', 'narrow', { m: { upstream: 'u', rate_limit: 'inherit' } }, { u: null }],
    ['of a model that is gone', 'narrow', null, {}, {}],
  ] as const)('an edited limit lets those in line through without another call: %s', async (_, own, inherited, models, upstreams) => {
    const limiter = new Limiter(new MemoryState());
    const narrow = limit({ max_concurrency: 1 });
    const ownRate = own === 'narrow' ? narrow : own;
    const enter = () =>
      limiter.acquire(
        { model: { name: 'm', rate_limit: ownRate }, upstream: { name: 'u', rate_limit: inherited === null ? null : narrow } },
        { accessKey: 'a', requestTokens: () => 10, replyTokens: () => undefined, mayWait: true, onLeave: () => undefined },
      );
    enter();
    const line = [enter(), enter()];
    expect(limiter.gates()).toMatchObject([{ held: 1, waiting: 2 }]);
    const known = Object.entries(upstreams).map(([name, rate_limit]) => [name, { rate_limit }] as const);
    limiter.follow({ models: new Map(Object.entries(models)), upstreams: new Map(known) } as unknown as Snapshot);
    expect((await Promise.all(line)).map(({ limited }) => limited)).toEqual([false, false]);
    limiter.close();
  });
});
