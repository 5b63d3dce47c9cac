/** Applies replacements that are given as numbers: one process computes them, another applies them to its own copy of the bytes. */

/**
 * `places` holds for each replacement its first byte, the byte after its last, and the length of the new text, in order; the new texts are
 * concatenated in `texts`. null: `texts` is the whole result. The same bytes come back when nothing is replaced. RangeError on positions that do not
 * fit.
 */
export function replaceRanges(source: Uint8Array, places: readonly number[] | null, texts: Uint8Array): Uint8Array {
  if (places === null) return texts;
  if (places.length === 0) return source;
  const parts: Uint8Array[] = [];
  let from = 0;
  let textFrom = 0;
  for (let at = 0; at < places.length; at += 3) {
    const [start = -1, end = -1, length = -1] = places.slice(at, at + 3);
    if (!(start >= from && end >= start && end <= source.length && length >= 0 && textFrom + length <= texts.length))
      throw new RangeError('A replacement does not fit the bytes it is made for');
    parts.push(source.subarray(from, start), texts.subarray(textFrom, textFrom + length));
    from = end;
    textFrom += length;
  }
  parts.push(source.subarray(from));
  return Buffer.concat(parts);
}
