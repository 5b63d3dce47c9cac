import { afterEach, describe, expect, test } from '@jest/globals';
import { formatDayUtc, formatRecent } from './format.ts';

const day = 86_400_000;
const zoneBefore = process.env['TZ'];

describe('in every time zone', () => {
  afterEach(() => {
    if (zoneBefore === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zoneBefore;
  });

  // Clocks go forward at midnight in the second and third: that day has none.
  test.each(['America/New_York', 'Asia/Beirut', 'Africa/Cairo', 'Europe/Berlin', 'Pacific/Kiritimati'])('days of UTC have their names (%s)', (zone) => {
    process.env['TZ'] = zone;
    const names = Array.from({ length: 365 }, (_, at) => formatDayUtc(Date.UTC(2026, 0, 1) + at * day));
    expect(new Set(names).size).toBe(365);
    expect(names.slice(86, 89)).toEqual(['Mar 28', 'Mar 29', 'Mar 30']);
    expect(names.slice(112, 115)).toEqual(['Apr 23', 'Apr 24', 'Apr 25']);
  });
});

test('a time of another year says which', () => {
  const now = new Date(2026, 10, 29, 12).getTime();
  expect(formatRecent(new Date(2026, 10, 29, 9, 5, 7).getTime(), now)).toMatch(/^0?9:05:07/);
  expect(formatRecent(new Date(2026, 10, 28, 9).getTime(), now)).not.toContain('2026');
  expect(formatRecent(new Date(2027, 10, 28, 9).getTime(), now)).toContain('2027');
});
