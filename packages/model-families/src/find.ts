/** From an id to what is known of the model. */
import { type FamilyRow, type ModelFamily, parts, unknownFamily } from './family.ts';
import { listedFacts } from './listed.ts';
import { bareId } from './model-id.ts';
import { matchPieces } from './patterns.ts';
import { table } from './table.ts';

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
  let like: string | undefined;
  for (const { pattern, pieces, row } of compiled) {
    if (!matchPieces(pieces, bare)) continue;
    found = lay(found ?? unknownFamily, row, pattern);
    like = row.like ?? like;
  }
  return found && freeze(withFacts(found, bare, like));
}

/** Limits and prices that the list has of the model; where it does not name it, the limits of the model that stands for its family. */
function withFacts(family: ModelFamily, bare: string, like: string | undefined): ModelFamily {
  const own = listedFacts(bare);
  const others = like === undefined ? null : listedFacts(like);
  const context = own?.context ?? others?.context ?? null;
  const written = own?.output ?? others?.output ?? null;
  const output = written !== null && context !== null ? Math.min(written, context) : written;
  return { ...family, context, output, defaultOutput: Math.min(family.defaultOutput, output ?? family.defaultOutput), prices: own?.prices ?? null };
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
