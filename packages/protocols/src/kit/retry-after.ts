type Headers = Readonly<Record<string, string | undefined>>;

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/** A day: no vendor means more, and a larger value would overflow timers. */
const maxMs = 86_400_000;

/**
 * How long an upstream asks us to wait, in ms: `retry-after-ms`, `retry-after` in seconds, as `20ms` / `1m30s`, or as a date (measured against the
 * reply's own `date`, since this layer has no clock), else the "try again in 1.5s" of the message. Undefined when it does not say.
 */
export function readRetryAfter(headers: Headers, message = ''): number | undefined {
  const milliseconds = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (Number.isFinite(milliseconds)) return bound(milliseconds);
  const value = headers['retry-after']?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return bound(Number(value) * 1000);
  const spelled = readDuration(value);
  if (spelled !== undefined) return bound(spelled);
  const distance = Date.parse(value) - Date.parse(headers['date'] ?? '');
  if (Number.isFinite(distance)) return bound(distance);
  const phrase = /(?:try again|retry|retry after)\s+(?:in|after)\s+((?:\d{1,9}(?:\.\d{1,9})?\s?(?:ms|s|m|h)(?![a-z]))+)/i.exec(message)?.[1];
  const said = phrase === undefined ? undefined : readDuration(phrase);
  return said === undefined ? undefined : bound(said);
}

/** `48s`, `1m30.5s`, `20ms` in ms; undefined when it is none. */
function readDuration(text: string): number | undefined {
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?\s?(?:ms|s|m|h))+$/i.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)\s?(ms|s|m|h)/gi)) total += Number(amount) * (unitMs[(unit ?? 's').toLowerCase()] ?? 0);
  return total;
}

const bound = (value: number): number => Math.min(maxMs, Math.max(0, Math.round(value)));
