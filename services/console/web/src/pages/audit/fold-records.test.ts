import { expect, test } from '@jest/globals';
import { foldRecords } from './fold-records.ts';

const record = (at: string, more: object = {}) => ({
  id: `aud_${at}`,
  occurred_at: `2026-03-01T${at}Z`,
  actor: 'api_key:gk-a****zzzz',
  action: 'acl.violation',
  entity_type: 'model',
  entity_id: 'secret',
  diff: { access_key: 'ada', reason: 'model_not_granted', count: 1 },
  ip_address: null,
  request_id: null,
  ...more,
});

test('equal refusals of one hour are one line, and nothing else is', () => {
  const lines = foldRecords([
    record('11:00:00.000'),
    record('10:59:00.000', { diff: { access_key: 'ada', reason: 'model_not_granted', count: 40 } }),
    record('10:58:00.000', { action: 'update', entity_type: 'model' }),
    record('10:57:00.000', { diff: { access_key: 'bob', reason: 'model_not_granted', count: 1 } }),
    record('10:56:00.000', { action: 'update', entity_type: 'model' }),
    record('10:55:00.000'),
  ]);
  expect(lines.map(({ occurred_at, count, firstAt }) => [occurred_at.slice(11, 16), count, firstAt.slice(11, 16)])).toEqual([
    ['11:00', 1, '11:00'],
    ['10:59', 41, '10:55'],
    ['10:58', 1, '10:58'],
    ['10:57', 1, '10:57'],
    ['10:56', 1, '10:56'],
  ]);
});
