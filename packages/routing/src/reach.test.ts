import { expect, test } from '@jest/globals';
import { balancer, model, snapshotOf, upstream } from '../test/samples.ts';
import { reachableModels } from './index.ts';

const goTo = (use_model: string) => ({ mode: 'switch-route' as const, when: [{ path: 'x' }], use_model });
const snapshot = snapshotOf(
  [
    model('plain'),
    model('sends', { request_body_rules: [goTo('pool'), goTo('sends')] }),
    model('a'),
    model('b', { upstream: 'ruled' }),
    model('off'),
    model('dear'),
  ],
  [upstream('up'), upstream('ruled', { request_body_rules: [goTo('also-dear'), goTo('nobody')] })],
  [
    balancer('pool', [], {
      entries: [
        { model: 'a', weight: 1, enabled: true },
        { model: 'b', weight: 0, enabled: true },
        { model: 'off', weight: 1, enabled: false },
      ],
    }),
    balancer('also-dear', [['dear', 1]]),
  ],
);

test.each([
  ['plain', ['plain']],
  ['sends', ['sends', 'a', 'b', 'dear']],
  ['pool', ['a', 'b', 'dear']],
])('%s may come to %j', (name, expected) => {
  const named = snapshot.names.get(name)!;
  const found = reachableModels(snapshot, named);
  expect(found.map((one) => one.name)).toEqual(expected);
  expect(reachableModels(snapshot, named)).toBe(found);
});
