/** W3C trace context: by one short text a request belongs to a trace, wherever it goes (https://www.w3.org/TR/trace-context/#traceparent-header). */

export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the span that the next one is a child of. */
  readonly spanId: string;
  readonly sampled: boolean;
}

/** Version 00 is exactly this long; a later version may say more behind a dash. */
const length = 55;
const maxLength = 512;
const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** undefined: no valid parent, so a new trace begins. Callers write this header, so anything but an exact match is ignored. */
export function parseTraceparent(text: string): TraceParent | undefined {
  if (text.length > maxLength) return undefined;
  const found = form.exec(text.slice(0, length));
  if (!found) return undefined;
  const [, version = '', traceId = '', spanId = '', flags = ''] = found;
  if (text.length > length && (version === '00' || text[length] !== '-')) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Only for sampled requests: unsampled ones carry no header. */
export const printTraceparent = (traceId: string, spanId: string): string => `00-${traceId}-${spanId}-01`;
