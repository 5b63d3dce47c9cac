/** Breakers, waits and ejections: when a place is left alone, who finds out that it works again, and what a plan makes of it. */
import { describe, expect, test } from '@jest/globals';
import type { LoadBalancer, Outcome } from '@model-gateway/contracts';
import { ask, balancer, freshState, model, snapshotOf, upstream } from '../test/samples.ts';
import { buildPlan, Circuit, circuitPolicy, type PlanContext, type RoutingState } from './index.ts';

const { openMs, maxOpenMs, windowMs, probeMs } = circuitPolicy;

describe('a circuit', () => {
  test('opens after five failures in a row, and a success between begins the count anew', () => {
    const circuit = new Circuit();
    for (let at = 0; at < 4; at++) circuit.fail(at, 0.5, false);
    circuit.succeed(1, 4);
    for (let at = 5; at < 9; at++) circuit.fail(at, 0.5, false);
    expect(circuit.state(9)).toBe('closed');
    circuit.fail(9, 0.5, false);
    expect(circuit.state(9)).toBe('open');
  });
  test('opens at half of twenty attempts, and forgets what is older than the window', () => {
    const circuit = new Circuit();
    for (let at = 0; at < 9; at++) {
      circuit.succeed(1, at);
      circuit.fail(at, 0.5, false);
    }
    circuit.succeed(1, 10);
    expect(circuit.state(10)).toBe('closed');
    circuit.fail(windowMs * 2, 0.5, false);
    expect(circuit.state(windowMs * 2)).toBe('closed');
    const other = new Circuit();
    for (let at = 0; at < 10; at++) {
      other.succeed(1, at);
      other.fail(at, 0.5, false);
    }
    expect(other.state(10)).toBe('open');
  });
  test('lets one probe through at a time; a probe that fails opens it for twice as long, a success closes it', () => {
    const circuit = new Circuit();
    for (let at = 0; at < 5; at++) circuit.fail(0, 0.5, false);
    let now = 0;
    for (let doubling = 0; doubling < 8; doubling++) {
      const length = Math.min(maxOpenMs, openMs * 2 ** doubling);
      expect(circuit.state(now + length - 1)).toBe('open');
      now += length;
      expect(circuit.state(now)).toBe('half-open');
      expect([circuit.takeProbe(now), circuit.takeProbe(now), circuit.state(now)]).toEqual([true, false, 'probing']);
      // Old requests that fail meanwhile change nothing.
      circuit.fail(now, 0.5, false);
      expect(circuit.state(now)).toBe('probing');
      circuit.fail(now, 0.5, true);
    }
    circuit.succeed(1, now);
    expect(circuit.state(now)).toBe('closed');
  });
  test('a probe without an outcome is given to another request', () => {
    const circuit = new Circuit();
    for (let at = 0; at < 5; at++) circuit.fail(0, 0.5, false);
    expect(circuit.takeProbe(openMs)).toBe(true);
    expect(circuit.state(openMs + probeMs - 1)).toBe('probing');
    expect(circuit.takeProbe(openMs + probeMs)).toBe(true);
  });
  test('the open time is spread by a fifth either way', () => {
    for (const [random, length] of [
      [0, 0.8],
      [1, 1.2],
    ] as const) {
      const circuit = new Circuit();
      for (let at = 0; at < 5; at++) circuit.fail(0, random, false);
      expect(circuit.waitMs(0)).toBeCloseTo(openMs * length);
    }
  });
});

const upstreams = ['a', 'b', 'c', 'd'].map((name) => upstream(`up-${name}`, { api_keys: [{ id: `key-${name}`, sealed: 's', weight: 1 }] }));
const models = ['a', 'b', 'c', 'd'].map((name) => model(name, { upstream: `up-${name}` }));
const pool = (names: string, more: Partial<LoadBalancer> = {}) =>
  balancer(
    'pool',
    [...names].map((name) => [name, 1] as const),
    { strategy: 'priority', ...more },
  );
const snapshotWith = (names: string) => snapshotOf(models, upstreams, [pool(names)]);
const record = (state: RoutingState, name: string, more: Partial<Outcome>, now = 0, times = 1) => {
  for (let count = 0; count < times; count++)
    state.health.record(
      { model: name, upstream: `up-${name}`, key: `key-${name}`, sign: 'none', ok: 0, ...more },
      models.find((one) => one.name === name),
      now,
    );
};
const order = (state: RoutingState, names: string, now = 0) =>
  buildPlan(snapshotWith(names), ask('pool'), { state, now })
    .nodes.map(({ model: name }) => name)
    .join('');

describe('nodes of a balancer', () => {
  test('one that fails comes last until its probe, which one request gets', () => {
    const state = freshState();
    record(state, 'a', { sign: 'node' }, 0, 5);
    expect(order(state, 'abc')).toBe('bca');
    const plan = buildPlan(snapshotWith('abc'), ask('pool'), { state, now: openMs });
    expect(plan.nodes[0]).toEqual({ model: 'a', upstream: 'up-a', keys: [0], probe: true });
    expect(order(state, 'abc', openMs)).toBe('bca');
    record(state, 'a', { ok: 1 }, openMs);
    expect(order(state, 'abc', openMs)).toBe('abc');
  });
  test('at most half of them are ejected, those that failed first; when all failed, all are asked in their order', () => {
    const state = freshState();
    for (const [at, name] of [...'bad'].entries()) record(state, name, { sign: 'node' }, at, 5);
    // b and a opened first and are out; d stays in for the cap.
    expect(order(state, 'abcd', 10)).toBe('cdab');
    record(state, 'c', { sign: 'node' }, 10, 5);
    expect(order(state, 'abcd', 10)).toBe('abcd');
  });
  test('an upstream that sent Retry-After is not asked until then, and the earliest time is reported', () => {
    const state = freshState();
    record(state, 'a', { sign: 'node', waitMs: 30_000 });
    record(state, 'b', { sign: 'node', waitMs: 10_000 });
    expect(buildPlan(snapshotWith('abc'), ask('pool'), { state, now: 0 })).toMatchObject({ nodes: [{ model: 'c' }], retryAfterMs: 10_000 });
    expect(() => buildPlan(snapshotWith('ab'), ask('pool'), { state, now: 5_500 })).toThrow(
      expect.objectContaining({ code: 'no_upstream', status: 503, retryAfter: 5 }),
    );
    expect(order(state, 'abc', 10_001)).toBe('bc');
    expect(order(state, 'abc', 30_001)).toBe('abc');
  });
  test('nobody is believed for longer than a quarter of an hour', () => {
    const state = freshState();
    record(state, 'a', { sign: 'node', waitMs: 1e12 });
    expect(order(state, 'ab', 15 * 60_000 + 1)).toBe('ab');
  });
  test('a pinned entry is first while it is healthy', () => {
    const pinned = snapshotOf(models, upstreams, [pool('abc')], [{ load_balancer: 'pool', access_key: 'k', entry: 'c' }]);
    const state = freshState();
    const first = () => buildPlan(pinned, ask('pool'), { state, now: 0 }).nodes[0]!.model;
    expect(first()).toBe('c');
    expect(buildPlan(pinned, ask('pool', { accessKey: 'other' }), { state, now: 0 }).nodes[0]!.model).toBe('a');
    record(state, 'c', { sign: 'line' }, 0, 5);
    expect(first()).toBe('a');
  });
  test('a request that is pinned, or returns to the issuer of its signatures, does not advance the round-robin', () => {
    const pinned = snapshotOf(models, upstreams, [pool('abc', { strategy: 'weighted' })], [{ load_balancer: 'pool', access_key: 'k', entry: 'c' }]);
    const state = freshState();
    const first = (accessKey: string, more: Partial<PlanContext> = {}) =>
      buildPlan(pinned, ask('pool', { accessKey }), { state, now: 0, ...more }).nodes[0]!.model;
    const owned = { findOwner: ({ name }: { name: string }) => (name === 'b' ? 0 : -1) };
    const free = Array.from({ length: 6 }, () => {
      expect(first('k')).toBe('c');
      expect(first('other', owned)).toBe('b');
      return first('other');
    });
    expect(free.join('')).toBe('abcabc');
    expect(first('k', owned)).toBe('c');
    expect(first('other', { findOwner: () => -1 })).toBe('a');
    expect(first('other')).toBe('b');
  });
  test('what is disabled is left out; nothing left is a 503', () => {
    const off = snapshotOf(
      [models[0]!, model('x', { enabled: false }), model('y', { upstream: 'down' })],
      [upstreams[0]!, upstream('down', { enabled: false })],
      [pool('xy', { name: 'none' }), pool('xay', { name: 'some' })],
    );
    const state = freshState();
    expect(buildPlan(off, ask('some'), { state, now: 0 })).toMatchObject({ balanced: true, nodes: [{ model: 'a' }] });
    expect(() => buildPlan(off, ask('none'), { state, now: 0 })).toThrow(expect.objectContaining({ code: 'no_upstream', status: 503 }));
  });
  test('routes already left behind are not planned again', () => {
    expect(buildPlan(snapshotWith('abc'), ask('pool', { exclude: ['a'] }), { state: freshState(), now: 0 }).nodes.map((one) => one.model)).toEqual(['b', 'c']);
  });
});

test('only the node that is asked first binds the caller to its key', () => {
  const state = freshState();
  expect(order(state, 'abc')).toBe('abc');
  expect(state.bindings.of('k', 0).map(({ upstream: name }) => name)).toEqual(['up-a']);
});

test('counting takes no turn, binds nobody, and goes without an upstream when none can be asked', () => {
  const state = freshState();
  const weighted = snapshotOf(models, upstreams, [pool('ab', { strategy: 'weighted' })]);
  const count = (name: string) => buildPlan(weighted, ask(name, { operation: 'count-tokens' }), { state, now: 0 });
  for (let turn = 0; turn < 3; turn++) expect(count('pool').nodes[0]!.model).toBe('a');
  expect(state.bindings.size).toBe(0);
  for (const name of ['a', 'b']) record(state, name, { sign: 'line', waitMs: 1000 }, 0, 5);
  expect(count('pool')).toEqual({ revision: 7, model: 'pool', nodes: [], balanced: true });
  expect(count('a')).toMatchObject({ nodes: [], balanced: false });
  expect(() => count('nobody')).toThrow(expect.objectContaining({ status: 404 }));
});

describe('a lone upstream', () => {
  const plan = (state: RoutingState, now: number) => buildPlan(snapshotWith(''), ask('a'), { state, now });
  test.each(['line', 'hang'] as const)('that fails by %s is refused at once, but for one probe at a time', (sign) => {
    const state = freshState();
    record(state, 'a', { sign }, 0, 5);
    expect(() => plan(state, 1)).toThrow(expect.objectContaining({ code: 'upstream_unavailable', status: 502 }));
    expect(plan(state, openMs).nodes[0]!.probe).toBe(true);
    expect(() => plan(state, openMs)).toThrow(expect.objectContaining({ code: 'upstream_unavailable' }));
    record(state, 'a', { ok: 1 }, openMs);
    expect(plan(state, openMs).nodes[0]!.probe).toBeUndefined();
  });
  test.each(['node', 'key'] as const)('that answers, if only with failures (%s), is asked each time', (sign) => {
    const state = freshState();
    record(state, 'a', { sign, waitMs: 30_000 }, 0, 50);
    expect(plan(state, 1).nodes).toEqual([{ model: 'a', upstream: 'up-a', keys: [0] }]);
  });
  test('that an admin changed is believed anew', () => {
    const state = freshState();
    const before = snapshotWith('');
    state.adopt(before, null);
    record(state, 'a', { sign: 'line' }, 0, 5);
    state.adopt(snapshotOf(models, [{ ...upstreams[0]! }, ...upstreams.slice(1)]), before);
    expect(plan(state, 1).nodes).toHaveLength(1);
  });
  test('what is quiet is forgotten', () => {
    const state = freshState();
    record(state, 'a', { sign: 'node', waitMs: 10 });
    expect(state.health.hasTroubles('up-a')).toBe(true);
    state.sweep(snapshotWith(''), windowMs + 1);
    expect(state.health.hasTroubles('up-a')).toBe(false);
  });
});

test('a refused key is tried after the others, before the standbys, and stays bound', () => {
  const state = freshState();
  const many = upstream('many', { api_keys: ['x', 'y', 'z'].map((id, index) => ({ id, sealed: 's', weight: index === 2 ? 0 : 1 })) });
  const snapshot = snapshotOf([model('m', { upstream: 'many' })], [many]);
  const keys = (now: number) => buildPlan(snapshot, ask('m'), { state, now }).nodes[0]!.keys;
  const [first] = keys(0);
  state.health.record({ model: 'm', upstream: 'many', key: many.api_keys[first!]!.id, sign: 'key', ok: 0 }, undefined, 0);
  for (let count = 0; count < 4; count++)
    state.health.record({ model: 'm', upstream: 'many', key: many.api_keys[first!]!.id, sign: 'key', ok: 0 }, undefined, 0);
  expect(keys(0)).toEqual([1 - first!, first, 2]);
  expect(state.bindings.find('k', 'many', 0)?.index).toBe(first);
});
