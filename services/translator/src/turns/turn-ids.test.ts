import { expect, test } from '@jest/globals';
import { createMinter } from '@model-gateway/service-runtime';
import { ageOf, mintItemId, mintTurnId } from './turn-ids.ts';

const mintId = createMinter();
const now = Date.UTC(2026, 10, 23);

test('the id of a turn tells for half a minute that it may not be stored yet', () => {
  const id = mintTurnId(mintId, 'resp_', now);
  expect(id).toMatch(/^resp_[0-9A-Za-z]{30}$/);
  expect([0, 29_000, -29_000, 60_000, -60_000].map((later) => ageOf(id, 'resp_', now + later))).toEqual(['new', 'new', 'new', 'old', 'old']);
  expect(ageOf(id.slice('resp_'.length), 'resp_', now)).toBe('new');
});

test.each(['resp_1', mintId('resp_'), 'resp_0fe74db124a77f9a0169cdf58037d48194b164c5044ded5c5f', '', 'resp_', `resp_${'x'.repeat(500)}`])(
  'an id of another making tells nothing: %s',
  (id) => expect(ageOf(id, 'resp_', now)).toBe('unknown'),
);

test('ids of items are as long as others, and sort by their time', () => {
  const ids = [0, 1, 30, 900, 1000, 60_000].map((later) => mintItemId(mintId, 'msg_', now + later));
  for (const id of ids) expect(id).toMatch(/^msg_[0-9A-Za-z]{24}$/);
  expect(ids.map((id) => id.slice(0, 10)).filter((second) => second === ids[0]!.slice(0, 10))).toHaveLength(4);
  const times = ids.map((id) => id.slice(0, 12));
  expect([...times].sort()).toEqual(times);
  expect(new Set([ids[0], ...Array.from({ length: 100 }, () => mintItemId(mintId, 'msg_', now))]).size).toBe(101);
});

test('ids of turns sort by their time', () => {
  const times = [0, 1, 30, 900, 1000, 60_000].map((later) => mintTurnId(mintId, 'resp_', now + later).slice(0, 13));
  expect([...times].sort()).toEqual(times);
});
