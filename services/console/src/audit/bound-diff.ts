/** A diff is for reading: what is long is cut, and says so. */

const longestText = 2_000;
const mostEntries = 100;
/** Of the printed diff, well below what one message of the bus may hold. */
const mostBytes = 32 * 1024;

export function boundDiff(diff: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  let bytes = 0;
  for (const [field, value] of Object.entries(diff)) {
    const cut = cutLong(value, 0);
    bytes += field.length + Buffer.byteLength(JSON.stringify(cut) ?? '');
    if (bytes > mostBytes) {
      kept['truncated'] = true;
      break;
    }
    kept[field] = cut;
  }
  return kept;
}

function cutLong(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.length > longestText ? `${value.slice(0, longestText)}… (${value.length} characters)` : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 8) return '…';
  if (Array.isArray(value)) {
    const kept = value.slice(0, mostEntries).map((entry) => cutLong(entry, depth + 1));
    return value.length > mostEntries ? [...kept, `… (${value.length} entries)`] : kept;
  }
  const entries = Object.entries(value);
  const kept = Object.fromEntries(entries.slice(0, mostEntries).map(([name, entry]) => [name, cutLong(entry, depth + 1)]));
  return entries.length > mostEntries ? { ...kept, '…': `${entries.length} entries` } : kept;
}
