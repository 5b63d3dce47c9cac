/** From an id to what is known of the model. */
import { type FamilyRow, type ModelFamily, parts, unknownFamily } from './family.ts';
import { table } from './table.ts';

/** Ids are a caller's or an admin's text: no longer than any real one is looked at. */
const longestId = 256;

interface Compiled {
  pattern: string;
  pieces: readonly string[];
  row: FamilyRow;
  weight: number;
}

/** Least specific first: the number of literal characters decides, and the table's order among equals. */
const compiled: readonly Compiled[] = Object.entries(table)
  .map(([pattern, { row }]) => ({ pattern, pieces: pattern.split('*'), row, weight: pattern.replaceAll('*', '').length }))
  .sort((one, other) => one.weight - other.weight);

/**
 * The family of a model: by the id that the upstream knows, else by the gateway's own name for it, else the defaults. Frozen.
 * Callers on the request path keep the result; a look-up walks the whole table.
 */
export function findFamily(upstreamModelId: string, canonicalName?: string): ModelFamily {
  return match(upstreamModelId) ?? (canonicalName === undefined ? null : match(canonicalName)) ?? unknownFamily;
}

function match(id: string): ModelFamily | null {
  const bare = bareId(id);
  let found: ModelFamily | null = null;
  for (const { pattern, pieces, row } of compiled) if (matchPieces(pieces, bare)) found = lay(found ?? unknownFamily, row, pattern);
  return found && freeze(found);
}

/** `us.anthropic.claude-opus-4-5-20251101-v1:0` → `claude-opus-4-5-20251101-v1`; `vendor/model`, `models/x` → the last segment; `claude-opus-4.5` → `claude-opus-4-5`. */
export function bareId(id: string): string {
  const last = id.slice(-longestId).toLowerCase().split('/').at(-1) ?? '';
  const untagged = last.split(/[:@]/, 1)[0] ?? '';
  const bare = untagged.replace(
    /^(?:(?:us|eu|apac|ap|jp|au|ca|us-gov|global)\.)?(?:anthropic|amazon|meta|mistral|deepseek|qwen|openai|google|moonshotai?|zai|minimax|cohere|xai)\./,
    '',
  );
  // Aggregators and the assistant service write this vendor's versions with a dot.
  return bare.startsWith('claude') ? bare.replace(/(\d)\.(?=\d)/g, '$1-') : bare;
}

/** Whether an id fits a pattern that was split at its stars: the pieces in order: the first at the start, the last at the end. Linear, and no expression is built from data. */
export function matchPieces(pieces: readonly string[], id: string): boolean {
  const [first = '', ...rest] = pieces;
  if (!id.startsWith(first)) return false;
  if (rest.length === 0) return id.length === first.length;
  const last = rest.at(-1) ?? '';
  let at = first.length;
  for (const piece of rest.slice(0, -1)) {
    const found = id.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return id.length - last.length >= at && id.endsWith(last);
}

const lay = (base: ModelFamily, row: FamilyRow, pattern: string): ModelFamily => ({
  ...base,
  ...row,
  ...(Object.fromEntries(parts.map((part) => [part, { ...base[part], ...row[part] }])) as Pick<ModelFamily, (typeof parts)[number]>),
  pattern,
});

function freeze(family: ModelFamily): ModelFamily {
  for (const part of [...parts, 'prices'] as const) if (family[part]) Object.freeze(family[part]);
  return Object.freeze(family);
}
