/** Encodings: base64, hashes, JSON. */
import { LimitFault, maxTextLength } from '../limits.ts';
import { currentMeter } from '../meter.ts';
import { fromBase64, fromUtf8, sha256, toBase64, toHex, toUtf8 } from './bytes.ts';
import { toText } from './text.ts';

/** Longer texts would take these byte by byte functions too long. */
const maxBytes = 2 * 1024 * 1024;

function bounded(text: string, what: string): string {
  if (toText(text, what).length > maxBytes) throw new RangeError(`${what} is longer than ${maxBytes} characters`);
  return text;
}

export const encodingBuiltins = {
  base64_encode: (text: string): string => toBase64(toUtf8(bounded(text, 'text'))),
  base64_decode: (base64: string): string => fromUtf8(fromBase64(bounded(base64, 'base64'))),
  sha256: (text: string): string => toHex(sha256(toUtf8(bounded(text, 'text')))),
  json_encode(value: unknown, indent = 0): string {
    const text = JSON.stringify(value, null, indent) as string | undefined;
    if (text === undefined) throw new TypeError('the value is not a JSON value');
    if (text.length > maxTextLength) currentMeter()?.failLongText();
    return text;
  },
  json_parse(text: string): unknown {
    if (toText(text, 'text').length > maxTextLength) throw new LimitFault('StringTooLong', 'the text is too long');
    return JSON.parse(text);
  },
};
