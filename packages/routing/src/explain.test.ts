/** What explain says of a node: figures that were measured, and what the choice went by under its own name. */

import { expect, test } from '@jest/globals';
import type { LoadBalancer } from '@model-gateway/contracts';
import { balancer, freshState, model, snapshotOf, upstream } from '../test/samples.ts';
import { explainBalancer } from './index.ts';

const minute = 60_000;
const upstreams = [upstream('up', { api_keys: [{ id: 'key', sealed: 's', weight: 1 }] })];
const models = ['a', 'b', 'idle'].map((name) => model(name));

function explain(strategy: LoadBalancer['strategy'], more: Partial<LoadBalancer> = {}, now = 5 * minute) {
  const state = freshState();
  const onMessage = (name: string, latencyMs: number, at: number) =>
    state.health.record(
      { model: name, upstream: 'up', key: 'key', sign: 'none', ok: 1, latencyMs },
      models.find((one) => one.name === name),
      at,
    );
  onMessage('a', 3000, 0);
  onMessage('a', 140, 0);
  onMessage('b', 350, 0);
  const pool = balancer(
    'pool',
    models.map(({ name }) => [name, 1] as const),
    { strategy, ...more },
  );
  const snapshot = snapshotOf(models, upstreams, [pool]);
  return explainBalancer(snapshot, pool, 'caller', { state, now });
}

test('a node that took 140 ms is said to have taken 140 ms, however long ago that was; one never measured has no latency', () => {
  for (const strategy of ['weighted', 'priority', 'least_latency'] as const)
    for (const now of [0, minute, 60 * minute])
      expect(explain(strategy, {}, now).map(({ model: name, latency_ms }) => [name, latency_ms])).toEqual([
        ['a', 140],
        ['b', 350],
        ['idle', null],
      ]);
});

test('what the choice went by is named', () => {
  const kinds = (...given: Parameters<typeof explain>) => explain(...given).map(({ score, score_kind }) => [typeof score, score_kind]);
  expect(kinds('weighted')).toEqual([...Array(3)].map(() => ['number', 'turn_credit']));
  expect(kinds('weighted', { static_binding: true })).toEqual([...Array(3)].map(() => ['number', 'binding_hash']));
  expect(kinds('priority')).toEqual([...Array(3)].map(() => ['object', null]));
  const costs = explain('least_latency', {}, 5 * minute);
  // It fades while the node is not asked: a figure to choose by, no latency.
  expect(costs[1]).toMatchObject({ score: expect.closeTo(0, 3), score_kind: 'fading_cost_ms', latency_ms: 350 });
  expect(costs[2]).toMatchObject({ score: null, score_kind: null });
});
