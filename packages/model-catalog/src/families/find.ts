/** From an id to what is known of the model. */
import { type FamilyRow, type ModelFamily, parts, unknownFamily } from './family.ts';
import { listedFacts, nearestListed } from './listed.ts';
import { bareId } from './model-id.ts';
import { matchPieces } from './patterns.ts';
import { table } from './table.ts';
import { unlistedWindow } from './unlisted.ts';

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
  let like: Like | null = null;
  for (const { pattern, pieces, row, weight } of compiled) {
    if (!matchPieces(pieces, bare)) continue;
    found = lay(found ?? unknownFamily, row, pattern);
    if (row.like !== undefined) like = { id: row.like, weight };
  }
  return found && freeze(withFacts(found, bare, like));
}

/** The listed model that stands for a family, and how specific the row is that says so. */
interface Like {
  id: string;
  weight: number;
}

/**
 * Limits and prices that the list has of the model. One that it does not name has the price of the model that its id begins with, and the limits of that
 * model or of the one that stands for its family, whichever is more specific, unless they are known by hand (`unlisted.ts`).
 */
function withFacts(family: ModelFamily, bare: string, like: Like | null): ModelFamily {
  const own = listedFacts(bare);
  const near = own ? null : nearestListed(bare);
  const others = (own ? null : unlistedWindow(bare)) ?? (like && (!near || like.weight > near.id.length) ? listedFacts(like.id) : near?.facts);
  const context = own?.context ?? others?.context ?? null;
  const written = own?.output ?? others?.output ?? null;
  const output = written !== null && context !== null ? Math.min(written, context) : written;
  const input = family.replyApart && context !== null && output !== null ? context - output : context;
  const { prices } = own ?? near?.facts ?? { prices: null };
  return { ...family, context, input, output, defaultOutput: Math.min(family.defaultOutput, output ?? family.defaultOutput), prices };
}

const lay = (base: ModelFamily, { like: _, ...row }: FamilyRow, pattern: string): ModelFamily => ({
  ...base,
  ...row,
  ...(Object.fromEntries(parts.map((part) => [part, { ...base[part], ...row[part] }])) as Pick<ModelFamily, (typeof parts)[number]>),
  pattern,
});

function freeze(family: ModelFamily): ModelFamily {
  for (const part of [...parts, 'prices'] as const) if (family[part]) Object.freeze(family[part]);
  return Object.freeze(family);
}
