/** Clock and chance. */
import { maxTextLength } from '../limits.ts';
import { currentMeter } from '../meter.ts';
import { sha256, toHex, toUtf8 } from './bytes.ts';
import { toText } from './text.ts';

/** Random text of the host for this run, and how much of it was used. */
let seed = '';
let drawn = 0;
export function setSeed(next: string): void {
  seed = next;
  drawn = 0;
}

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const two = (value: number): string => String(value).padStart(2, '0');

const fields: Readonly<Record<string, (date: Date) => string>> = {
  Y: (date) => String(date.getUTCFullYear()),
  y: (date) => two(date.getUTCFullYear() % 100),
  m: (date) => two(date.getUTCMonth() + 1),
  d: (date) => two(date.getUTCDate()),
  e: (date) => String(date.getUTCDate()).padStart(2, ' '),
  H: (date) => two(date.getUTCHours()),
  I: (date) => two(date.getUTCHours() % 12 || 12),
  M: (date) => two(date.getUTCMinutes()),
  S: (date) => two(date.getUTCSeconds()),
  L: (date) => String(date.getUTCMilliseconds()).padStart(3, '0'),
  p: (date) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  a: (date) => days[date.getUTCDay()]!.slice(0, 3),
  A: (date) => days[date.getUTCDay()]!,
  b: (date) => months[date.getUTCMonth()]!.slice(0, 3),
  B: (date) => months[date.getUTCMonth()]!,
  j: (date) => String(Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000) + 1).padStart(3, '0'),
  s: (date) => String(Math.floor(date.getTime() / 1000)),
  Z: () => 'UTC',
  z: () => '+0000',
  F: (date) => date.toISOString().slice(0, -14),
  T: (date) => date.toISOString().slice(-13, -5),
  R: (date) => date.toISOString().slice(-13, -8),
  '%': () => '%',
};

export const timeBuiltins = {
  uuid(): string {
    const bytes = sha256(toUtf8(`${seed}:${drawn++}`)).slice(0, 16);
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    const hex = toHex(bytes);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  },
  now: (): number => Math.floor(Date.now() / 1000),
  now_ms: (): number => Date.now(),
  format_time(seconds: number, format?: string): string {
    const date = new Date(seconds * 1000);
    if (typeof seconds !== 'number' || Number.isNaN(date.getTime())) throw new RangeError('the time must be a number of seconds');
    if (format === undefined) return date.toISOString();
    let out = '';
    const text = toText(format, 'format');
    for (let at = 0; at < text.length; at++) {
      const letter = text[at + 1] ?? '';
      const field = text[at] === '%' && Object.hasOwn(fields, letter) ? fields[letter] : undefined;
      out += field ? field(date) : text[at];
      if (field) at++;
      if (out.length > maxTextLength) currentMeter()?.failLongText();
    }
    return out;
  },
};
