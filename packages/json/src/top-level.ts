/** The common edits of a body, replacing or adding top-level values, made on the bytes themselves: a large body is scanned, not turned into text. */
import { braceOpen } from './bytes.ts';
import type { Edit } from './edit.ts';
import { type ScannedValue, scanBody } from './scan.ts';
import { type Replacement, spliceBytes } from './splice.ts';

const limits = { maxDepth: 256, maxNodes: Number.POSITIVE_INFINITY };
const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** What an earlier scan of the same bytes found. */
export interface KnownPlaces {
  /** The top-level keys it looked for. */
  keys: readonly string[];
  /** Where the values of those that are there begin and end. */
  values: Readonly<Record<string, Pick<ScannedValue, 'start' | 'end'> | undefined>>;
  /** Offset of the closing brace. */
  end: number;
}

/** null when the edits or the body are not of this kind: removals, deeper paths, a repeated key, text that is no JSON object. */
export function spliceTopLevel(source: Uint8Array, edits: readonly Edit[], known?: KnownPlaces): Uint8Array | null {
  if (!edits.every(({ path, value }) => path.length === 1 && typeof path[0] === 'string' && value !== undefined)) return null;
  const keys = edits.map(({ path }) => path[0] as string);
  if (new Set(keys).size !== keys.length) return null;
  const scan = known && keys.every((key) => known.keys.includes(key)) ? known : scanForKeys(source, keys);
  if (!scan) return null;
  const replacements: Replacement[] = [];
  let added = '';
  const lastEnd = endOfMembers(source, scan.end);
  for (const { path, value, add } of edits) {
    const key = path[0] as string;
    const found = Object.hasOwn(scan.values, key) ? scan.values[key] : undefined;
    if (found) replacements.push({ start: found.start, end: found.end, text: JSON.stringify(value) });
    else if (add) added += `${added !== '' || source[lastEnd - 1] !== braceOpen ? ',' : ''}${JSON.stringify(key)}:${JSON.stringify(value)}`;
  }
  if (added !== '') replacements.push({ start: lastEnd, end: lastEnd, text: added });
  return replacements.length === 0 ? source : spliceBytes(source, replacements);
}

function scanForKeys(source: Uint8Array, keys: readonly string[]): Omit<KnownPlaces, 'keys'> | null {
  const scan = scanBody(source, { keys, ...limits });
  return scan.ok ? scan : null;
}

/** After the last member, before the blanks that precede the closing brace. */
function endOfMembers(source: Uint8Array, closing: number): number {
  let at = closing;
  while (isBlank(source[at - 1])) at--;
  return at;
}
