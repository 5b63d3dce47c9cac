/** The beginning of a body without its long base64 runs: an image would otherwise take all the space and leave none for its question. */

/** Shorter runs stay: words, ids and hashes are never that long. */
const shortestRun = 512;

const isBase64 = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=') isBase64[character.charCodeAt(0)] = 1;

/** The shortened body; `whole` when nothing was cut. */
export interface CompactBody {
  bytes: Buffer;
  /** The body's last byte is in it, or in a run that was left out. */
  whole: boolean;
}

/**
 * At least `limit` bytes of what is left when each run is replaced by its length, or all of it; never longer than `limit` and one placeholder.
 * Looks at every 512th byte alone until it meets a run, so that megabytes cost microseconds.
 */
export function compactBody(body: Uint8Array, limit: number): CompactBody {
  const parts: (Uint8Array | string)[] = [];
  let length = 0;
  let copied = 0;
  const keep = (end: number): void => {
    const part = body.subarray(copied, Math.min(end, copied + limit - length));
    parts.push(part);
    length += part.length;
    copied += part.length;
  };
  for (let at = shortestRun - 1; at < body.length && at - copied < limit - length + shortestRun; ) {
    if (isBase64[body[at]!] === 0) {
      at += shortestRun;
      continue;
    }
    let start = at;
    while (start > copied && isBase64[body[start - 1]!] === 1) start--;
    let end = at + 1;
    while (end < body.length && isBase64[body[end]!] === 1) end++;
    if (end - start >= shortestRun) {
      keep(start);
      if (copied < start) break;
      const placeholder = `[base64: ${end - start} characters]`;
      parts.push(placeholder);
      length += placeholder.length;
      copied = end;
      if (length >= limit) break;
    }
    at = end + shortestRun - 1;
  }
  if (length < limit) keep(body.length);
  return { bytes: Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part))), whole: copied === body.length };
}
