/** The order of a load balancer's nodes: exact sequences, shares, and what only looking leaves alone. */
import { describe, expect, test } from '@jest/globals';
import type { LoadBalancer } from '@model-gateway/contracts';
import fc from 'fast-check';
import { balancer, freshState } from '../test/samples.ts';
import { bindStatically, type OrderContext, orderNodes, Rotation } from './index.ts';

const nodes = (...weights: number[]) => weights.map((weight, index) => ({ model: 'abcdefgh'[index]!, weight }));
const context = (more: Partial<OrderContext> = {}): OrderContext => ({
  now: 0,
  random: () => 0,
  cost: () => null,
  rotation: new Rotation(),
  peek: false,
  ...more,
});
const firsts = (count: number, list: ReturnType<typeof nodes>, shared: OrderContext) =>
  Array.from({ length: count }, () => orderNodes('weighted', list, shared)[0]!.model).join('');

describe('smooth weighted round-robin', () => {
  test.each([
    // The sequence of Nginx's own commit message, and others computed by its algorithm.
    [[5, 1, 1], 'aabacaaaabacaa'],
    [[1, 1, 1], 'abcabc'],
    [[3, 2, 1], 'abacbaabacba'],
    [[4, 3, 2, 1], 'abcabdacba'],
    [[7], 'aaa'],
  ])('%j is %s', (weights, sequence) => {
    expect(firsts(sequence.length, nodes(...weights), context())).toBe(sequence);
  });
  test('over one round each node has exactly its weight, whatever the weights', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }), (weights) => {
        const round = weights.reduce((sum, weight) => sum + weight, 0);
        const sequence = firsts(round, nodes(...weights), context());
        expect(weights.map((_, index) => [...sequence].filter((one) => one === 'abcdefgh'[index]).length)).toEqual(weights);
      }),
    );
  });
  test('peeking changes nothing, and returns the next turn', () => {
    const shared = context();
    for (let turn = 0; turn < 20; turn++) {
      const seen = orderNodes('weighted', nodes(5, 1, 1), { ...shared, peek: true });
      expect(orderNodes('weighted', nodes(5, 1, 1), { ...shared, peek: true })).toEqual(seen);
      expect(orderNodes('weighted', nodes(5, 1, 1), shared)).toEqual(seen);
    }
  });
  test('weight 0 comes last, after all others, and takes no turn', () => {
    const shared = context();
    for (let turn = 0; turn < 6; turn++) expect(orderNodes('weighted', nodes(0, 1, 1), shared).at(-1)!.model).toBe('a');
    expect(orderNodes('weighted', nodes(0, 0), context()).map(({ model }) => model)).toEqual(['a', 'b']);
  });
  test('a node that leaves and comes back finds its turn', () => {
    const shared = context();
    expect(firsts(2, nodes(1, 1, 1), shared)).toBe('ab');
    expect(firsts(2, nodes(1, 1), shared)).toMatch(/^[ab]{2}$/);
    expect([...firsts(6, nodes(1, 1, 1), shared)].sort().join('')).toMatch(/^a+b+c+$/);
  });
  test('turns survive a snapshot that leaves the entries as they are, and begin anew when they change', () => {
    const state = freshState();
    const one = balancer('pool', [
      ['a', 1],
      ['b', 1],
    ]);
    const rotation = state.rotationOf(one);
    expect(state.rotationOf({ ...one, static_binding: true } as LoadBalancer)).toBe(rotation);
    expect(
      state.rotationOf(
        balancer('pool', [
          ['a', 2],
          ['b', 1],
        ]),
      ),
    ).not.toBe(rotation);
  });
});

test('priority goes by the order of the entries, whatever their weights', () => {
  expect(orderNodes('priority', nodes(1, 9, 0), context()).map(({ model }) => model)).toEqual(['a', 'b', 'c']);
});

describe('least latency', () => {
  const costs: Record<string, number | null> = { a: 30, b: 10, c: 20 };
  const cost = (model: string) => costs[model] ?? null;
  const order = (randoms: number[], list = nodes(1, 1, 1)) => {
    const left = [...randoms];
    return orderNodes('least_latency', list, context({ cost, random: () => left.shift() ?? 0 })).map(({ model }) => model);
  };
  test('the better of two chosen at random, then by cost', () => {
    expect(order([0, 0])).toEqual(['b', 'c', 'a']);
    expect(order([0, 0.99])).toEqual(['c', 'b', 'a']);
    expect(order([0.5, 0])).toEqual(['b', 'c', 'a']);
    expect(order([0.99, 0.999])).toEqual(['b', 'c', 'a']);
  });
  test('each node once, for any random', () => {
    fc.assert(
      fc.property(fc.float({ min: 0, max: 1, noNaN: true }), fc.float({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 8 }), (x, y, count) => {
        const list = nodes(...Array.from({ length: count }, () => 1));
        expect(order([x, y], list).sort()).toEqual(list.map(({ model }) => model));
      }),
    );
  });
  test('one that was never measured is tried before one that was', () => {
    expect(orderNodes('least_latency', nodes(1, 1), context({ cost: (model) => (model === 'a' ? 5 : null) }))[0]!.model).toBe('b');
  });
});

describe('static bindings', () => {
  const callers = Array.from({ length: 3000 }, (_, index) => `key-${index}`);
  test('are the same in every process, in proportion to weight', () => {
    const shares = new Map<string, number>();
    for (const caller of callers) {
      const [first] = bindStatically(nodes(3, 1), caller);
      expect(bindStatically([...nodes(3, 1)].reverse(), caller)[0]).toEqual(first);
      shares.set(first!.model, (shares.get(first!.model) ?? 0) + 1);
    }
    expect(Math.abs(shares.get('a')! / callers.length - 0.75)).toBeLessThan(0.04);
  });
  test('a node that leaves moves its own callers alone', () => {
    for (const caller of callers.slice(0, 500)) {
      const [first, second] = bindStatically(nodes(1, 1, 1), caller);
      const without = nodes(1, 1, 1).filter(({ model }) => model !== 'a');
      expect(bindStatically(without, caller)[0]!.model).toBe(first!.model === 'a' ? second!.model : first!.model);
    }
  });
});
