import { expect, test } from '@jest/globals';
import { daysOf, forecast, monthEnd, reachedAt, startsOf } from './months.ts';

const day = 86_400_000;
const now = Date.UTC(2026, 10, 16, 12);
const month = { from: Date.UTC(2026, 10, 1), to: monthEnd(now) };

test('months and days begin at midnight UTC', () => {
  expect(daysOf('month', now)).toEqual({ from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 10, 17) });
  expect(daysOf('last-month', now)).toEqual({ from: Date.UTC(2026, 9, 1), to: Date.UTC(2026, 10, 1) });
  expect(daysOf('last-month', Date.UTC(2026, 0, 3))).toEqual({ from: Date.UTC(2025, 11, 1), to: Date.UTC(2026, 0, 1) });
  expect(startsOf(daysOf('30d', now))).toHaveLength(30);
  expect(startsOf(daysOf('90d', now)).at(-1)).toBe(Date.UTC(2026, 10, 16));
  expect(monthEnd(Date.UTC(2026, 11, 31, 23))).toBe(Date.UTC(2027, 0, 1));
});

test('a forecast goes on as it went since the beginning', () => {
  expect(forecast(155, month, now)).toBeCloseTo(300);
  expect(forecast(5, month, month.from + 1)).toBeNull();
  expect(forecast(5, month, month.to + day)).toBe(5);
});

test('a budget ends within its period, or does not', () => {
  expect(reachedAt(50, 75, month, month.from + 10 * day)).toBe(month.from + 15 * day);
  expect(reachedAt(50, 500, month, month.from + 10 * day)).toBeNull();
  expect(reachedAt(80, 75, month, month.from + 10 * day)).toBeNull();
  expect(reachedAt(0, 75, month, now)).toBeNull();
});
