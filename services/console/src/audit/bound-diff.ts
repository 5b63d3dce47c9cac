/** A diff is for reading: what is long is cut, and says so. */

const maxTextLength = 2_000;
const maxEntries = 100;
/** Of the printed diff, well below what one message of the bus may hold. */
const maxBytes = 32 * 1024;

export function boundDiff(diff: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  let bytes = 0;
  for (const [field, value] of Object.entries(diff)) {
    const cut = cutLong(value, 0);
    bytes += field.length + Buffer.byteLength(JSON.stringify(cut) ?? '');
    if (bytes > maxBytes) {
      kept['truncated'] = true;
      break;
    }
    kept[field] = cut;
  }
  return kept;
}

function cutLong(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.length > maxTextLength ? `${value.slice(0, maxTextLength)}… (${value.length} characters)` : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 8) return '…';
  if (Array.isArray(value)) {
    const kept = value.slice(0, maxEntries).map((entry) => cutLong(entry, depth + 1));
    return value.length > maxEntries ? [...kept, `… (${value.length} entries)`] : kept;
  }
  const entries = Object.entries(value);
  const kept = Object.fromEntries(entries.slice(0, maxEntries).map(([name, entry]) => [name, cutLong(entry, depth + 1)]));
  return entries.length > maxEntries ? { ...kept, '…': `${entries.length} entries` } : kept;
}
