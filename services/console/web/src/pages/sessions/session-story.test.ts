import { expect, test } from '@jest/globals';
import type { LogRow } from '../../api/stats.ts';
import { layOut, readStory } from './session-story.ts';

const row = (started_at: number, more: Partial<LogRow> = {}): LogRow =>
  ({
    id: `r${started_at}`,
    started_at,
    duration_ms: 1_000,
    status: 200,
    error_code: null,
    kind: 'call',
    model: 'm',
    access_key: 'k',
    attempts: [{ upstream: 'a', key_index: 0, status: 200, error_code: null, duration_ms: 900 }],
    input_tokens: 100,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 10,
    cost_micros: 5,
    currency: 'USD',
    ...more,
  }) as LogRow;

test('turns stand in their order, with pauses, failovers and what they cost', () => {
  const story = readStory([
    row(61_000, {
      attempts: [
        { upstream: 'a', key_index: 0, status: 500, error_code: 'api_error', duration_ms: 1 },
        { upstream: 'b', key_index: 0, status: 200, error_code: null, duration_ms: 1 },
      ],
    }),
    row(10_000),
    row(12_000, { kind: 'mcp_call', cost_micros: null, currency: null, input_tokens: 0 }),
    row(90_000, { status: 500, error_code: 'api_error' }),
  ]);
  expect(story.turns.map(({ at, pauseMs }) => [at, pauseMs])).toEqual([
    [0, null],
    [2_000, 1_000],
    [51_000, 48_000],
    [80_000, 28_000],
  ]);
  expect(story.turns[2]?.failedOver).toEqual(['a']);
  expect([story.failovers, story.failures, story.tools, [...story.cost]]).toEqual([1, 1, 1, [['USD', 15]]]);
  expect([story.from, story.to]).toEqual([10_000, 91_000]);
});

test('a cache that is not read again was lost; what was never cached, and a short call beside it, lose nothing', () => {
  const lost = (rows: LogRow[]) => readStory(rows).turns.map(({ cacheLost }) => cacheLost);
  const first = row(0, { input_tokens: 10, cache_write_tokens: 20_000 });
  expect(lost([first, row(2_000, { input_tokens: 50, cache_read_tokens: 20_000 })])).toEqual([0, 0]);
  expect(lost([first, row(2_000, { input_tokens: 20_500 })])).toEqual([0, 20_000]);
  expect(lost([first, row(2_000, { input_tokens: 300, cache_write_tokens: 20_500 })])).toEqual([0, 20_000]);
  // Of another model, or a title of the conversation.
  expect(lost([first, row(2_000, { model: 'small', input_tokens: 20_000 }), row(3_000, { input_tokens: 5, cache_read_tokens: 20_000 })])).toEqual([0, 0, 0]);
  expect(lost([first, row(2_000, { input_tokens: 400 }), row(3_000, { input_tokens: 5, cache_read_tokens: 20_000 })])).toEqual([0, 0, 0]);
  expect(lost([row(0, { input_tokens: 9_000 }), row(2_000, { input_tokens: 9_500 })])).toEqual([0, 0]);
  // One that failed says nothing.
  expect(lost([first, row(2_000, { status: 529, error_code: 'overloaded', input_tokens: 0 }), row(9_000, { cache_read_tokens: 20_000 })])).toEqual([0, 0, 0]);
});

test('long pauses are cut, so that turns are seen', () => {
  const { turns } = readStory([row(0), row(2_000), row(3_600_000)]);
  const places = layOut(turns, 1_000);
  expect(places.map(({ cut }) => cut)).toEqual([false, false, true]);
  expect(places[2]?.left).toBeCloseTo(0.8);
  expect(places.every(({ left, width }) => left >= 0 && left + width <= 1 + 1e-9)).toBe(true);
  expect(layOut([])).toEqual([]);
});
