/** Budget reservations with callers that wait: in order, bounded, removed when they disconnect; and never more than one reservation beyond the limit. */
import { describe, expect, test } from '@jest/globals';
import type { Reserved } from '@model-gateway/limits';
import fc from 'fast-check';
import { BudgetReservations, MemoryState, type SharedState, type WaitOptions } from '../src/index.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const waitOptions = (ms = 60_000): WaitOptions & { leave(): void } => {
  const hearing: (() => void)[] = [];
  return { ms, onLeave: (leave) => hearing.push(leave), leave: () => hearing.forEach((one) => one()) };
};

/** Answers after a turn of the loop, as a store over the network does. */
function remote(state: MemoryState): SharedState {
  return Object.assign(Object.create(state) as SharedState, {
    holder: state.holder,
    reserve: async (...ask: Parameters<MemoryState['reserve']>): Promise<Reserved> => {
      const answer = state.reserve(...ask);
      await turn();
      return answer;
    },
    charge: (...charge: Parameters<MemoryState['charge']>) => state.charge(...charge),
  });
}

describe.each(['here', 'remote'])('a state that is %s', (where) => {
  const open = (spent = 0): { reservations: BudgetReservations; state: MemoryState } => {
    const state = new MemoryState();
    state.learn('s', spent);
    return { reservations: new BudgetReservations(where === 'here' ? state : remote(state), 's'), state };
  };

  test('a request that finds the budget reserved waits, and is admitted in order as others settle', async () => {
    const { reservations, state } = open();
    const order: number[] = [];
    expect((await reservations.reserve(100, () => 100)).allowed).toBe(true);
    const waiting = [1, 2, 3].map(async (at) => {
      const { allowed } = await reservations.reserve(100, () => 100, waitOptions());
      order.push(allowed ? at : -at);
      return allowed;
    });
    await turn();
    await turn();
    expect(order).toEqual([]);
    reservations.settle(100, 40);
    await waiting[0];
    expect([order, reservations.held]).toEqual([[1], 100]);
    reservations.settle(100, 40);
    await waiting[1];
    // Spent: nobody waits for what cannot come.
    reservations.settle(100, 40);
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, -3]);
    expect(state.lookAtBudget('s')).toEqual({ spent: 120, reserved: 0, tasks: 0 });
  });

  test('nobody waits for a budget that is spent, nor without patience, nor longer than that', async () => {
    const spent = open(100).reservations;
    expect(await spent.reserve(1, () => 100, waitOptions())).toEqual({ allowed: false, spent: 100, tasks: 0 });
    const { reservations } = open();
    await reservations.reserve(100, () => 100);
    expect((await reservations.reserve(1, () => 100)).allowed).toBe(false);
    const began = performance.now();
    expect((await reservations.reserve(1, () => 100, waitOptions(60))).allowed).toBe(false);
    expect(performance.now() - began).toBeGreaterThan(50);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  test('a caller that disconnects blocks nobody, even while a question is under way', async () => {
    const { reservations, state } = open();
    await reservations.reserve(100, () => 100);
    const [first, second] = [waitOptions(), waitOptions()];
    const answers = [reservations.reserve(100, () => 100, first), reservations.reserve(100, () => 100, second)];
    await turn();
    await turn();
    reservations.settle(100, 10);
    first.leave();
    second.leave();
    const allowed = (await Promise.all(answers)).filter((one) => one.allowed).length;
    for (let at = 0; at < allowed; at++) reservations.settle(100, 0);
    await turn();
    await turn();
    expect([reservations.held, state.lookAtBudget('s')]).toEqual([0, { spent: 10, reserved: 0, tasks: 0 }]);
    expect((await reservations.reserve(100, () => 100, waitOptions(50))).allowed).toBe(true);
  });

  test('the queue is bounded, a raised limit is noticed, and the first to arrive is asked for first', async () => {
    const { reservations } = open();
    let limit = 100;
    await reservations.reserve(100, () => limit);
    const waiting = Array.from({ length: 200 }, () => reservations.reserve(1, () => limit, waitOptions(60_000)));
    const early = await Promise.race([waiting.at(-1), turn().then(turn).then(turn)]);
    expect(early).toMatchObject({ allowed: false });
    limit = 120;
    const answers = await Promise.all(waiting.slice(0, 20));
    expect(answers.every(({ allowed }) => allowed)).toBe(true);
    limit = 1_000;
    expect((await Promise.all(waiting)).filter(({ allowed }) => allowed)).toHaveLength(64);
  });

  test('whatever comes in whatever order: at most one reservation beyond the limit, and nothing stays reserved', async () => {
    const request = fc.record({ amount: fc.integer({ min: 1, max: 60 }), share: fc.double({ min: 0, max: 1, noNaN: true }), turns: fc.nat({ max: 4 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 40 }), fc.integer({ min: 1, max: 300 }), async (requests, limit) => {
        const { reservations, state } = open();
        const dearest = Math.max(0, ...requests.map(({ amount }) => amount));
        await Promise.all(
          requests.map(async ({ amount, share, turns }) => {
            const { allowed } = await reservations.reserve(amount, () => limit, waitOptions(60_000));
            if (!allowed) return;
            for (let at = 0; at < turns; at++) await turn();
            reservations.settle(amount, Math.floor(amount * share));
            expect(reservations.held + (state.lookAtBudget('s')?.spent ?? 0)).toBeLessThan(limit + dearest);
          }),
        );
        expect([reservations.held, state.lookAtBudget('s')?.reserved ?? 0]).toEqual([0, 0]);
        expect(state.lookAtBudget('s')?.spent ?? 0).toBeLessThan(limit + dearest);
      }),
      { numRuns: 60 },
    );
  });
});
