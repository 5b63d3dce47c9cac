/** Sums of money by owner and day, kept in step with the rows they come from: a row that replaces another adds the difference. */
import type { SpendOwner } from '@model-gateway/contracts';
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import { addInto, type SumTable } from '../stats/add-into.ts';
import type { Tally } from '../stats/tally.ts';
import { dayOf } from './days.ts';

const table: SumTable = {
  name: 'spend_days',
  keys: [...(['owner_kind', 'owner', 'currency'] as const).map((name) => ({ name, type: 'text' as const })), { name: 'day', type: 'integer' }],
  values: [{ name: 'micros', how: 'add' }],
};

/** Inside the transaction that writes the rows. */
export async function addSpend(db: Kysely<Database>, dialect: StorageDialect, tallies: readonly Tally[]): Promise<void> {
  const sums = new Map<string, (string | number)[]>();
  for (const { hours } of tallies)
    for (const { values, currency, start, sums: measures } of hours.values()) {
      if (currency === '' || measures.cost_micros === 0) continue;
      const day = dayOf(start);
      for (const [kind, owner] of [
        ['key', values.access_key],
        ['group', values.key_group],
      ] as const) {
        if (owner === '') continue;
        const id = `${kind}\u0001${owner}\u0001${currency}\u0001${day}`;
        const sum = sums.get(id);
        if (sum) sum[4] = Number(sum[4]) + measures.cost_micros;
        else sums.set(id, [kind, owner, currency, day, measures.cost_micros]);
      }
    }
  const rows = [...sums.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum);
  await addInto(db, dialect, table, rows);
}

/** Since `from`, in millionths; 0 for whom nothing is known. */
export async function readSpent(db: Kysely<Database>, { kind, name, currency, from }: SpendOwner): Promise<number> {
  const { micros } = await db
    .selectFrom('spend_days')
    .select((eb) => eb.fn.sum<number | string | null>('micros').as('micros'))
    .where('owner_kind', '=', kind)
    .where('owner', '=', name)
    .where('currency', '=', currency)
    .where('day', '>=', from)
    .executeTakeFirstOrThrow();
  return Number(micros ?? 0);
}
