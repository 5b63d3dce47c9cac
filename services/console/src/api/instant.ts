/** Times and ranges as query parameters. */
import { z } from 'zod';
import { invalidField } from '../problem.ts';

export const dayMs = 24 * 3_600_000;

const date = z.iso.date();
const dateTime = z.iso.datetime({ offset: true, local: true });

/** Milliseconds since the epoch, NaN for what is not a time. What names no zone is UTC, as everything that is counted here. */
function readTime(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  // The plus of an offset is a space where it was not encoded.
  const value = text.replace(/ (?=\d\d:\d\d$)/, '+');
  if (date.safeParse(value).success) return Date.parse(`${value}T00:00:00Z`);
  if (!dateTime.safeParse(value).success) return Number.NaN;
  return Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(value) ? value : `${value}Z`);
}

/** ISO 8601 (a date is its first moment), or milliseconds since the epoch. */
export const instant = z
  .string()
  .max(40)
  .transform((value, context) => {
    if (value === '') return undefined;
    const time = readTime(value);
    if (Number.isNaN(time)) context.addIssue({ code: 'custom', message: 'must be an ISO 8601 date or instant, or milliseconds since the epoch' });
    return time;
  })
  .optional();

/** Numbers of other lists lead nowhere here, but the first page is the first page. */
const firstPage = z.coerce
  .number()
  .refine((page) => page === 1, { message: 'is 1 alone: the next page is asked for by `cursor`, which is the `next_cursor` of the one before' })
  .optional();

/** Size of a page where a cursor leads to the next: `limit`, which other lists call `page_size`. */
export const cursorPage = (max: number) => {
  const size = z.coerce.number().int().min(1).max(max).optional();
  return { limit: size, page_size: size, page: firstPage, cursor: z.string().min(1).max(4096).optional() };
};

/** How many rows a cursored list was asked for. */
export const sizeOf = ({ limit, page_size }: { limit?: number | undefined; page_size?: number | undefined }): number => limit ?? page_size ?? 50;

/** Slack for a request for exactly the last 7 days, whose window was computed before it arrived. */
const onTheWayMs = 60_000;

/** Free search looks at every row of its window. Throws 422 naming `q`. */
export function refuseWideSearch({ from, to }: { from: number; to: number }, now: number): void {
  if (Math.min(to, now) - from > 7 * dayMs + onTheWayMs) throw invalidField('q', 'needs a window of at most 7 days: set `from` and `to`');
}

/** How far the clocks of processes may be apart: what one writes whose clock is ahead is listed at once all the same. */
export const clocksApartMs = 3_600_000;

/** The last 24 hours unless something else is asked for. Throws 422 naming `from`. `slackMs`: how far beyond `now` it reaches without a `to`. */
export function toRange(query: { from?: number | undefined; to?: number | undefined }, now: number, slackMs = 0): { from: number; to: number } {
  const to = query.to ?? now + slackMs;
  const from = query.from ?? Math.min(to, now) - dayMs;
  if (from > to) throw invalidField('from', 'is later than `to`');
  return { from, to };
}
