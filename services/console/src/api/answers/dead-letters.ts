/** Messages of the bus that were set aside. */
import { z } from 'zod';
import { count, cursorPageOf, instant, text } from './common.ts';

const deadLetter = z.strictObject({
  id: text,
  subject: text,
  /** Id under which it was published. */
  item_id: text,
  reason: text,
  /** Its beginning, without credentials. */
  excerpt: text,
  /** Of the whole. */
  bytes: count,
  first_at: instant,
  last_at: instant,
  /** How often the very same came. */
  times: count,
});

export const deadLetterPage = cursorPageOf(deadLetter);
