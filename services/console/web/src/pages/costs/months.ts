/** Time ranges of costs: calendar months and days of UTC, as budgets and daily sums go by. */
const dayMs = 86_400_000;

export const spans = ['month', 'last-month', '30d', '90d'] as const;
export type Span = (typeof spans)[number];

/** From the beginning of a day to the end of one; milliseconds since the epoch. */
export interface Days {
  from: number;
  to: number;
}

const monthStart = (now: number, back = 0): number => {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - back);
};
const tomorrow = (now: number): number => (Math.floor(now / dayMs) + 1) * dayMs;

export function daysOf(span: Span, now: number): Days {
  if (span === 'month') return { from: monthStart(now), to: tomorrow(now) };
  if (span === 'last-month') return { from: monthStart(now, 1), to: monthStart(now) };
  return { from: tomorrow(now) - (span === '30d' ? 30 : 90) * dayMs, to: tomorrow(now) };
}

/** Of the month in which `now` lies. */
export const monthEnd = (now: number): number => monthStart(now, -1);

/** What it will be at the end, when it goes on as since the beginning; null while too little has passed to say. */
export function forecast(spent: number, { from, to }: Days, now: number): number | null {
  const passed = (now - from) / (to - from);
  if (passed <= 0.02) return null;
  return passed >= 1 ? spent : spent / passed;
}

/** When the limit will be reached at this pace; null: not within the period. */
export function reachedAt(spent: number, limit: number, { from, to }: Days, now: number): number | null {
  if (spent <= 0 || spent >= limit || now <= from) return null;
  const at = from + (limit / spent) * (now - from);
  return at < to ? at : null;
}

/** The beginning of each day. */
export const startsOf = ({ from, to }: Days): number[] => Array.from({ length: Math.round((to - from) / dayMs) }, (_, at) => from + at * dayMs);
