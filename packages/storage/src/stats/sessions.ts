/** Sums of a session of a coding agent, kept in step with the rows. */
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import { cleanText } from '../requests/clean-text.ts';
import { type Database, type Measures, measureNames } from '../schema.ts';
import { addInto, type SumTable } from './add-into.ts';
import { addMeasures, measuresOf } from './dimensions.ts';
import { type Change, measureColumns, noMeasures } from './rollups.ts';

const table: SumTable = {
  name: 'stat_sessions',
  keys: ['session_id', 'access_key', 'currency'].map((name) => ({ name, type: 'text' })),
  values: [{ name: 'first_at', how: 'least' }, { name: 'last_at', how: 'greatest' }, ...measureColumns],
};

const longest = 512;

/** Inside the transaction that writes the rows. A session belongs to its access key: ids are the callers' own. */
export async function addSessions(db: Kysely<Database>, dialect: StorageDialect, changes: readonly Change[]): Promise<void> {
  const sessions = new Map<string, { key: [string, string, string]; first: number; last: number; sums: Measures }>();
  for (const { before, after } of changes)
    for (const [row, sign] of [
      [before, -1],
      [after, 1],
    ] as const) {
      if (row === null || row.session_id === null) continue;
      const key: [string, string, string] = [cleanText(row.session_id, longest), row.access_key ?? '', row.cost_micros === null ? '' : (row.currency ?? '')];
      const id = key.join('\u0001');
      let session = sessions.get(id);
      if (!session) {
        session = { key, first: row.started_at, last: row.started_at, sums: noMeasures() };
        sessions.set(id, session);
      }
      session.first = Math.min(session.first, row.started_at);
      session.last = Math.max(session.last, row.started_at);
      addMeasures(session.sums, measuresOf(row, sign));
    }
  const rows = [...sessions.entries()].sort(([one], [other]) => (one < other ? -1 : 1));
  await addInto(
    db,
    dialect,
    table,
    rows.map(([, { key, first, last, sums }]) => [...key, first, last, ...measureNames.map((name) => sums[name])]),
  );
}
