import { expect, test } from '@jest/globals';
import { buildSnapshot } from '../snapshot.ts';
import { createHistory } from './history.ts';

const at = (revision: number) => buildSnapshot({ revision, upstreams: [], models: [], key_groups: [], access_keys: [] });

test('keeps sixteen revisions, and none longer than a minute after it was replaced', () => {
  let now = 0;
  const history = createHistory({ revisions: 16, ageMs: 60_000, now: () => now });
  for (let revision = 1; revision <= 20; revision++) history.add(at(revision));
  expect(history.get(4)).toBeUndefined();
  expect(history.get(5)?.revision).toBe(5);
  now = 60_001;
  history.add(at(21));
  expect(history.get(19)).toBeUndefined();
  expect(history.get(20)?.revision).toBe(20);
  expect(history.get(21)?.revision).toBe(21);
});
