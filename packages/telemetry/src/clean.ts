/** Turns any value into plain, bounded, redacted data for a log line. */
import type { Redactor } from './redactor.ts';

/** Maximum length of strings in a log line (UTF-16 units). */
export const maxStringLength = 2048;
const deepest = 4;
const maxEntries = 50;
const causeDepth = 5;

/** Field names whose values never reach a log, whatever they hold. */
const secretName =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|password|secret|credential|token|access_token|refresh_token|key|api_?key|x-[a-z-]*key|.*_secret|.*_password|master_key)$/i;
/** Invisible characters that JSON leaves alone and terminals obey: DEL, C1, line separators, direction overrides. */
const invisible = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const escapeInvisible = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Redacts, then cuts: cutting first could leave a recognisable half of a secret. */
export function cleanText(text: string, redactor: Redactor): string {
  const window = text.length > maxStringLength + redactor.maxLength ? text.slice(0, maxStringLength + redactor.maxLength) : text;
  const redacted = redactor.redact(window).replace(invisible, escapeInvisible);
  return redacted.length > maxStringLength ? `${redacted.slice(0, maxStringLength)}… (${text.length} characters)` : redacted;
}

function cleanError(error: Error, redactor: Redactor, depth: number): Record<string, unknown> {
  const out: Record<string, unknown> = { type: error.name, message: cleanText(String(error.message), redactor) };
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string' || typeof code === 'number') out['code'] = typeof code === 'string' ? cleanText(code, redactor) : code;
  if (error.stack !== undefined) out['stack'] = cleanText(String(error.stack), redactor);
  if (depth < causeDepth) {
    if (error.cause !== undefined)
      out['cause'] = error.cause instanceof Error ? cleanError(error.cause, redactor, depth + 1) : cleanValue(error.cause, redactor);
    if (error instanceof AggregateError)
      out['errors'] = error.errors.slice(0, 5).map((one) => (one instanceof Error ? cleanError(one, redactor, depth + 1) : cleanValue(one, redactor)));
  }
  return out;
}

const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};

/**
 * Only plain data, errors, maps to their class name and bytes to their length: an object with behaviour (a request, a socket) is
 * named, never walked, since nobody has checked what it holds.
 */
export function cleanValue(value: unknown, redactor: Redactor, depth = 0): unknown {
  if (typeof value === 'string') return cleanText(value, redactor);
  if (value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object') return `[${typeof value}]`;
  if (value instanceof Error) return cleanError(value, redactor, 0);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (depth >= deepest) return '[deep]';
  if (Array.isArray(value)) return value.slice(0, maxEntries).map((one) => cleanValue(one, redactor, depth + 1));
  if (!isPlain(value)) return `[${value.constructor?.name ?? 'object'}]`;
  return cleanFields(value as Record<string, unknown>, redactor, depth + 1);
}

/** The same for the fields of a line. Null prototype, so that a field named `__proto__` is only a field. */
export function cleanFields(fields: Record<string, unknown>, redactor: Redactor, depth = 0): Record<string, unknown> {
  const out: Record<string, unknown> = Object.create(null);
  let count = 0;
  for (const name of Object.keys(fields)) {
    if (count++ >= maxEntries) break;
    const value = fields[name];
    out[name.length > 128 ? name.slice(0, 128) : name] = secretName.test(name) && typeof value === 'string' ? '[redacted]' : cleanValue(value, redactor, depth);
  }
  return out;
}
