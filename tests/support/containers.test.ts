import { expect, test } from '@jest/globals';
import { chooseWay, noWay, type Way, type Ways } from './containers.ts';

const never = (): boolean => {
  throw new Error('an engine was looked for');
};

const cases: [Way | null, Ways][] = [
  ['given', { given: 'nats://h:1', binary: true, engine: never }],
  ['given', { given: 'nats://h:1', binary: false, engine: never }],
  ['binary', { given: undefined, binary: true, engine: never }],
  ['binary', { given: '', binary: true, engine: never }],
  ['container', { given: undefined, binary: false, engine: () => true }],
  [null, { given: undefined, binary: false, engine: () => false }],
];

test.each(cases)('the way is %s', (way, ways) => {
  expect(chooseWay(ways)).toBe(way);
});

test('without a way it is said what would be one', () => {
  expect(noWay('nats-server', 'NATS_URL', 'nats-server')).toBe(
    'no nats-server: set NATS_URL, or install one (Debian: apt-get install nats-server), or let a container engine answer (DOCKER_HOST, or its usual socket)',
  );
});
