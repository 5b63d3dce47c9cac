/** Names of tools that an upstream refuses (dots, over-long, a leading digit), replaced by ones that it takes; the same each time, so that caches keep matching. */
import { shortId } from './short-id.ts';

/** What nearly every vendor takes. */
export const plainToolName = /^[a-zA-Z0-9_-]{1,64}$/;

const maxLength = 64;
const hashDigits = 8;

/**
 * `name` as it is when `legal` takes it; else what is legal of it, with a hash of the whole, so that two names never become one
 * (`a.b` and `a_b` are different tools). `legal` must take letters, digits, `_`, and a leading letter.
 */
export function legalToolName(name: string, legal: RegExp): string {
  if (legal.test(name)) return name;
  const hash = shortId(name.padEnd(maxLength + 1, ' '), '').slice(0, hashDigits);
  const readable = name.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, maxLength - hashDigits - 3);
  return `${/^[a-zA-Z_]/.test(readable) ? '' : 't_'}${readable}_${hash}`;
}
