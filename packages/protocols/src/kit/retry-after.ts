type Headers = Readonly<Record<string, string | undefined>>;

/** By the beginning of a unit's name: `ms`, `milliseconds`, `s`, `sec`, `seconds`, … */
const units: readonly (readonly [beginning: RegExp, ms: number])[] = [
  [/^(?:ms|milli)/i, 1],
  [/^s/i, 1000],
  [/^m/i, 60_000],
  [/^h/i, 3_600_000],
  [/^d/i, 86_400_000],
];
/** A day: limits of weeks are looked at again daily, and a larger value would overflow timers. */
const maxMs = 86_400_000;

const count = '\\d{1,9}(?:\\.\\d{1,9})?';
const unit = '(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])';
const durations = new RegExp(`(${count})\\s?(${unit})`, 'gi');
const shortDuration = /^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|s|m|h))+$/i;
const waitPhrase = new RegExp(`(?:(?:try again|retry|resets?)\\s+(?:in|after)|please wait)\\s+((?:${count}\\s?${unit}[\\s,]{0,2})+)`, 'i');
/** "resets at 2026-05-15T15:00:00Z" of MiniMax; "will reset at 2026-09-12 00:35:41" and "将在 2026-08-25 07:41:44 重置" of Z.ai. */
const resetPhrase = /(?:\bresets? (?:at|on)|将在)\s{0,2}(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)?/i;
/** The one vendor that leaves the zone out means Beijing's, on its international service too. */
const unsaidZone = '+08:00';

/**
 * How long an upstream asks us to wait, in ms: `retry-after-ms`, `retry-after` in seconds, as `20ms` / `1m30s`, or as a date, else the "try again in 1.5s" or
 * the "resets at" with a date of the message. Dates are measured against the reply's own `date`, since this layer has no clock. Undefined when it does not say.
 */
export function readRetryAfter(headers: Headers, message = ''): number | undefined {
  const milliseconds = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (Number.isFinite(milliseconds)) return bound(milliseconds);
  const value = headers['retry-after']?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return bound(Number(value) * 1000);
  if (shortDuration.test(value)) return bound(sumOf(value));
  const distance = until(value, headers);
  if (distance !== undefined) return bound(distance);
  const phrase = waitPhrase.exec(message)?.[1];
  if (phrase !== undefined) return bound(sumOf(phrase));
  const [, day, time, zone = unsaidZone] = resetPhrase.exec(message) ?? [];
  const reset = day === undefined ? undefined : until(`${day}T${time}${zone}`, headers);
  return reset === undefined ? undefined : bound(reset);
}

function until(date: string, headers: Headers): number | undefined {
  const distance = Date.parse(date) - Date.parse(headers['date'] ?? '');
  return Number.isFinite(distance) ? distance : undefined;
}

/** `48s`, `1m30.5s`, `2 hours 5 minutes` in ms. */
function sumOf(text: string): number {
  let total = 0;
  for (const [, number, name = ''] of text.matchAll(durations)) total += Number(number) * (units.find(([beginning]) => beginning.test(name))?.[1] ?? 0);
  return total;
}

const bound = (value: number): number => Math.min(maxMs, Math.max(0, Math.round(value)));
