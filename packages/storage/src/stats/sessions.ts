/** Sums of a session of a coding agent, kept in step with the rows. */
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import { type Database, measureNames } from '../schema.ts';
import { addInto, type SumTable } from './add-into.ts';
import { addMeasures } from './dimensions.ts';
import { measureColumns } from './rollups.ts';
import type { Session, Tally } from './tally.ts';

const table: SumTable = {
  name: 'stat_sessions',
  keys: ['session_id', 'access_key', 'currency'].map((name) => ({ name, type: 'text' })),
  values: [{ name: 'first_at', how: 'min' }, { name: 'last_at', how: 'greatest' }, ...measureColumns],
};

/** Inside the transaction that writes the rows. */
export async function addSessions(db: Kysely<Database>, dialect: StorageDialect, tallies: readonly Tally[]): Promise<void> {
  const sessions = merge(tallies.map((tally) => tally.sessions));
  const rows = [...sessions.entries()].sort(([one], [other]) => (one < other ? -1 : 1));
  await addInto(
    db,
    dialect,
    table,
    rows.map(([, { key, first, last, sums }]) => [...key, first, last, ...measureNames.map((name) => sums[name])]),
  );
}

/** Leaves what it is given as it is: the transaction may fail. */
function merge(given: readonly ReadonlyMap<string, Session>[]): ReadonlyMap<string, Session> {
  const [only, ...others] = given.filter(({ size }) => size > 0);
  if (!only || others.length === 0) return only ?? new Map();
  const merged = new Map<string, Session>();
  for (const sessions of [only, ...others])
    for (const [id, one] of sessions) {
      const known = merged.get(id);
      const sums = { ...(known ?? one).sums };
      if (known) addMeasures(sums, one.sums);
      merged.set(id, { key: one.key, first: Math.min(one.first, known?.first ?? one.first), last: Math.max(one.last, known?.last ?? one.last), sums });
    }
  return merged;
}
