/** Makes a script's replacements in the bytes that it saw. */
import type { ScriptOutcome } from '@model-gateway/contracts';

/** The same buffer when nothing changed. Throws RangeError on places that do not fit: the answer is then no answer. */
export function applyPlaces(source: Buffer, { places }: ScriptOutcome, texts: Uint8Array): Buffer {
  if (places === null) return Buffer.from(texts.buffer, texts.byteOffset, texts.byteLength);
  if (places.length === 0) return source;
  const parts: Uint8Array[] = [];
  let [from, textFrom] = [0, 0];
  for (let at = 0; at < places.length; at += 3) {
    const [start = -1, end = -1, length = -1] = places.slice(at, at + 3);
    if (start < from || end < start || end > source.length || length < 0 || textFrom + length > texts.length)
      throw new RangeError('a script changed what is not there');
    parts.push(source.subarray(from, start), texts.subarray(textFrom, textFrom + length));
    from = end;
    textFrom += length;
  }
  parts.push(source.subarray(from));
  return Buffer.concat(parts);
}
