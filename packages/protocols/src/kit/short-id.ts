/** Ids above this length are refused by several vendors. */
const maxLength = 64;

/**
 * An id that every upstream takes: unchanged up to 64 characters, else `prefix` and a hash of it. The same id gives the same text, so that a call and
 * its result stay paired without any table. Not a secret, and a caller can make its own ids collide.
 */
export function shortId(id: string, prefix = 'call_'): string {
  if (id.length <= maxLength) return id;
  return prefix + [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35].map((seed) => hash(id, seed).toString(16).padStart(8, '0')).join('');
}

/** Nine letters or digits, as one vendor's ids of calls must be; the same id gives the same text. */
export function nineCharacterId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id;
  return [0x811c9dc5, 0x9e3779b9]
    .map((seed) => hash(id, seed).toString(36).padStart(7, '0'))
    .join('')
    .slice(-9);
}

/** FNV-1a over UTF-16 units with a final mix, from a seed. */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  value = Math.imul(value ^ (value >>> 15), 0x846ca68b);
  return (value ^ (value >>> 16)) >>> 0;
}
