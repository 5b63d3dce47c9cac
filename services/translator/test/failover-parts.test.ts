/** The parts of the attempt loop: the cursor through a plan, the retry budget, and the published outcomes. */
import { describe, expect, test } from '@jest/globals';
import type { Outcome, Plan, PlannedNode } from '@model-gateway/contracts';
import type { Route } from '@model-gateway/routing';
import fc from 'fast-check';
import { AttemptCursor } from '../src/attempt/attempt-cursor.ts';
import { createOutcomePublisher } from '../src/attempt/outcomes.ts';
import { RetryBudget } from '../src/attempt/retry-budget.ts';

const planOf = (...nodes: PlannedNode[]): Plan => ({ revision: 1, model: 'pool', nodes, balanced: nodes.length > 1 });

describe('the path through a plan', () => {
  const plan = planOf({ model: 'a', upstream: 'u', keys: [1, 0] }, { model: 'b', upstream: 'v', keys: [-1] }, { model: 'c', upstream: 'u', keys: [0, 1] });
  const at = (path: AttemptCursor) => path.attempt && `${path.attempt.model}${path.attempt.keyIndex}`;
  test('keys of a node, then the next node', () => {
    const path = new AttemptCursor(plan);
    const seen = [at(path)];
    while (path.nextKey() || path.nextNode()) seen.push(at(path));
    expect(seen).toEqual(['a1', 'a0', 'b-1', 'c0', 'c1']);
    expect(path.attempt).toBeUndefined();
  });
  test('keys that were left for another node are tried when all nodes were asked', () => {
    const path = new AttemptCursor(plan);
    const seen = [at(path)];
    path.leaveKeys();
    while (path.nextNode()) {
      seen.push(at(path));
      if (path.isLastNode) while (path.nextKey()) seen.push(at(path));
      else path.leaveKeys();
    }
    expect(seen).toEqual(['a1', 'b-1', 'c0', 'c1', 'a0']);
    expect([path.attempt, path.nextKey(), path.nextNode()]).toEqual([undefined, false, false]);
  });
  test('a refused key is not tried again for another model of its upstream', () => {
    const path = new AttemptCursor(plan);
    path.refuseKey();
    path.nextNode();
    path.nextNode();
    expect([at(path), path.nextKey(), path.nextNode()]).toEqual(['c0', false, false]);
  });
  test('never gives the same attempt twice, whatever happens on the way', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uniqueArray(fc.nat(4), { minLength: 1 }), { minLength: 1, maxLength: 5 }),
        fc.array(fc.constantFrom('key', 'node', 'leave', 'refuse'), { maxLength: 40 }),
        (keys, steps) => {
          const path = new AttemptCursor(planOf(...keys.map((one, index) => ({ model: `m${index}`, upstream: `u${index % 2}`, keys: one }))));
          const refused = new Set<string>();
          const seen = new Set<string>();
          const note = () => {
            const { attempt } = path;
            if (!attempt) return;
            const id = `${attempt.model} ${attempt.keyIndex}`;
            expect(seen.has(id)).toBe(false);
            expect(refused.has(`${attempt.upstream} ${attempt.keyIndex}`)).toBe(false);
            seen.add(id);
          };
          note();
          for (const step of steps) {
            if (!path.attempt) break;
            if (step === 'refuse') {
              refused.add(`${path.attempt.upstream} ${path.attempt.keyIndex}`);
              path.refuseKey();
            }
            if (step === 'leave') path.leaveKeys();
            if (step !== 'node' && step !== 'leave' && path.nextKey()) note();
            else if (path.nextNode()) note();
            else break;
          }
        },
      ),
    );
  });
});

describe('the budget of retries', () => {
  test('a share of the requests of the last ten seconds, and a floor', () => {
    let now = 0;
    const budget = new RetryBudget({ share: 0.2, floor: 1 }, () => now);
    for (let request = 0; request < 50; request++) budget.enter();
    const take = () => {
      let taken = 0;
      while (budget.take()) taken++;
      return taken;
    };
    expect(take()).toBe(20);
    now = 5_000;
    expect(take()).toBe(0);
    now = 11_000;
    expect(take()).toBe(10);
  });
});

describe('published outcomes', () => {
  const route = (model: string) => ({ model: { name: model }, upstream: { name: 'up' }, key: { id: 'k' } }) as unknown as Route;
  const node: PlannedNode = { model: 'm', upstream: 'up', keys: [0] };
  const soon = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const start = () => {
    const described: Outcome[] = [];
    return {
      described,
      publisher: createOutcomePublisher(
        { publish: ((_subject: string, event: { outcomes: Outcome[] }) => described.push(...event.outcomes)) as never },
        () => 0,
      ),
    };
  };
  test('nothing of a model that works', async () => {
    const { described, publisher } = start();
    for (let call = 0; call < 10; call++) publisher.begin(route('m'), node, false).content();
    await soon();
    expect(described).toEqual([]);
  });
  test('a failure at once, with the successes before it; then the first success, and no other', async () => {
    const { described, publisher } = start();
    for (let call = 0; call < 3; call++) publisher.begin(route('m'), node, false).content();
    publisher.begin(route('m'), node, false).failed('node', 5000);
    await soon();
    expect(described).toEqual([{ model: 'm', upstream: 'up', key: 'k', sign: 'node', ok: 3, waitMs: 5000 }]);
    publisher.begin(route('m'), node, false).content();
    publisher.begin(route('m'), node, false).content();
    await soon();
    expect(described.slice(1)).toEqual([{ model: 'm', upstream: 'up', key: 'k', sign: 'none', ok: 2 }]);
    publisher.begin(route('m'), node, false).content();
    await soon();
    expect(described).toHaveLength(2);
  });
  test('a probe’s outcome at once, and successes of load balancers gathered', async () => {
    const { described, publisher } = start();
    publisher.begin(route('m'), { ...node, probe: true }, true).content();
    await soon();
    expect(described).toEqual([{ model: 'm', upstream: 'up', key: 'k', sign: 'none', ok: 1, latencyMs: 0 }]);
    for (let call = 0; call < 4; call++) publisher.begin(route('m'), node, true).content();
    await soon();
    expect(described).toHaveLength(1);
    for (const end = Date.now() + 20_000; described.length < 2 && Date.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(described.slice(1)).toEqual([{ model: 'm', upstream: 'up', key: 'k', sign: 'none', ok: 4, latencyMs: 0 }]);
  });
});
