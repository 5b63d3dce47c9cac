import { describe, expect, test } from '@jest/globals';
import { isCompleteRow } from './complete-row.ts';
import { newRequestRow } from './new-request-row.ts';
import { requestLogMessage, requestRowSchema } from './request-log-message.ts';
import type { RequestRow } from './row.ts';

const attempt = { upstream: 'north', key_index: 0, status: 200, error_code: null, duration_ms: 12, model: 'm', key: 'k' };
const row: RequestRow = newRequestRow({
  id: 'req_1',
  started_at: 1_800_000_000_000,
  authority: 2,
  status: 200,
  attempts: [attempt, { upstream: 'south', key_index: 1, status: null, error_code: 'timeout', duration_ms: 0, message: 'sealed' }],
  losses: [{ field: 'seed', action: 'dropped', detail: 'unsupported' }],
  pipeline: ['translate'],
  routes: ['a', 'b'],
  input_tokens: 3,
  queue_ms: 0,
  client_protocol: 'alpha',
});
/** What a bus may deliver in a place: of every type, at every bound. */
const oddities: readonly unknown[] = [
  ...[undefined, null, true, false, '', 'x', 'x'.repeat(64), 'x'.repeat(65), 'x'.repeat(200), 'x'.repeat(201), 'x'.repeat(8_193)],
  ...[0, -0, 1, 2, 3, -1, 0.4, 1.5, 999, 1000, 1e15, 1e15 + 1, 2 ** 53, 8_640_000_000_000_000, 8_640_000_000_000_001, 1e300, Number.NaN, Infinity],
  ...[{}, [], ['x'], [1], [null], [{}], [attempt], [{ ...attempt, more: 1 }], [{ ...attempt, status: 1.5 }], [{ field: 'f', action: 'a', detail: 'd' }]],
];

describe('isCompleteRow', () => {
  test('knows the rows that this version writes, also after a journey as JSON', () => {
    expect(isCompleteRow(row)).toBe(true);
    expect(isCompleteRow(JSON.parse(JSON.stringify(row)))).toBe(true);
    expect(isCompleteRow(newRequestRow({ id: 'x', started_at: 0, authority: 1, status: 0 }))).toBe(true);
  });

  test('takes a row with anything anywhere only if the schema returns it unchanged', () => {
    for (const value of oddities) {
      for (const name of Object.keys(row)) agrees({ ...row, [name]: value });
      for (const name of [...Object.keys(attempt), 'message']) agrees({ ...row, attempts: [{ ...attempt, [name]: value }] });
      for (const name of ['field', 'action', 'detail']) agrees({ ...row, losses: [{ field: 'f', action: 'a', detail: 'd', [name]: value }] });
      agrees(value);
    }
  });

  test('leaves rows of other versions to the schema', () => {
    for (const name of Object.keys(row) as (keyof RequestRow)[]) {
      const { [name]: _without, ...older } = row;
      expect(isCompleteRow(older)).toBe(false);
    }
    for (const name of ['news', 'constructor', 'toString']) expect(isCompleteRow({ ...row, [name]: 'x' })).toBe(false);
    expect(requestLogMessage.safeParse({ ...row, news: 1 })).toEqual({ success: true, data: row });
  });
});

describe('a row of an earlier version', () => {
  const known = { id: 'req_2', started_at: 1, authority: 1, status: 200 } as const;

  test('lacks what this version added, which gets its empty value', () => {
    const empty = newRequestRow(known);
    for (const name of Object.keys(empty) as (keyof RequestRow)[]) {
      if (name in known) continue;
      const { [name]: _without, ...older } = empty;
      expect([name, requestLogMessage.safeParse(older)]).toEqual([name, { success: true, data: empty }]);
    }
    expect(requestLogMessage.safeParse(known)).toEqual({ success: true, data: empty });
  });

  test('lacks a duration of an attempt', () => {
    const { duration_ms: _without, ...older } = attempt;
    expect(requestLogMessage.safeParse({ ...row, attempts: [older] })).toMatchObject({ success: true, data: { attempts: [{ ...attempt, duration_ms: 0 }] } });
  });

  test('is none without an id, a beginning, an authority or a status', () => {
    for (const name of Object.keys(known) as (keyof typeof known)[]) {
      const { [name]: _without, ...rest } = known;
      expect(requestLogMessage.safeParse(rest).success).toBe(false);
    }
  });
});

function agrees(value: unknown): void {
  const read = requestRowSchema.safeParse(value);
  if (isCompleteRow(value)) expect(read).toEqual({ success: true, data: value });
  // And nothing that a row of this version may hold is left to the schema for no reason.
  else if (read.success) expect(read.data).not.toStrictEqual(value);
}
