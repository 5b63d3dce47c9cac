/** The two hashes of routing: FNV-1a as the specification names it, and a unit interval made of it for rendezvous hashing. */

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;
const encoder = new TextEncoder();

/** FNV-1a, 32 bits, over the UTF-8 bytes. */
export function fnv1a(text: string): number {
  let hash = offsetBasis;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return fnv1aBytes(encoder.encode(text));
    hash = Math.imul(hash ^ code, prime);
  }
  return hash >>> 0;
}

function fnv1aBytes(bytes: Uint8Array): number {
  let hash = offsetBasis;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, prime);
  return hash >>> 0;
}

/** A number between 0 and 1, both left out. FNV alone distributes short texts with equal beginnings badly, so its bits are mixed once more (the finaliser of MurmurHash3). */
export function unitHash(text: string): number {
  let hash = fnv1a(text);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash = (hash ^ (hash >>> 16)) >>> 0;
  return (hash + 0.5) / 2 ** 32;
}
