/** Milliseconds as ISO 8601, whatever was stored: one odd figure must not make a whole answer fail. */

/** The years that ISO 8601 writes with four digits, which every reader takes. */
const first = Date.parse('0000-01-01T00:00:00.000Z');
const last = Date.parse('9999-12-31T23:59:59.999Z');

/** What lies outside those years is given as their begin or end; what is not a number as 1970. */
export const isoTime = (ms: number): string => new Date(Number.isFinite(ms) ? Math.min(last, Math.max(first, ms)) : 0).toISOString();
