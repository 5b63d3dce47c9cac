/** Sums of money by owner and day, kept in step with the rows they come from: a row that replaces another adds the difference. */
import type { RequestRow, SpendOwner } from '@model-gateway/contracts';
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import { addInto, type SumTable } from '../stats/add-into.ts';
import type { Change } from '../stats/rollups.ts';
import { dayOf } from './days.ts';

const table: SumTable = {
  name: 'spend_days',
  keys: [...(['owner_kind', 'owner', 'currency'] as const).map((name) => ({ name, type: 'text' as const })), { name: 'day', type: 'integer' }],
  values: [{ name: 'micros', how: 'add' }],
};

/** Inside the transaction that writes the rows. */
export async function addSpend(db: Kysely<Database>, dialect: StorageDialect, changes: readonly Change[]): Promise<void> {
  const sums = new Map<string, (string | number)[]>();
  const add = (row: RequestRow, sign: 1 | -1): void => {
    const { currency, cost_micros } = row;
    if (currency === null || cost_micros === null || cost_micros === 0) return;
    const day = dayOf(row.started_at);
    for (const [kind, owner] of [
      ['key', row.access_key],
      ['group', row.key_group],
    ] as const) {
      if (owner === null) continue;
      const id = `${kind}\u0001${owner}\u0001${currency}\u0001${day}`;
      const sum = sums.get(id);
      if (sum) sum[4] = Number(sum[4]) + sign * cost_micros;
      else sums.set(id, [kind, owner, currency, day, sign * cost_micros]);
    }
  };
  for (const { before, after } of changes) {
    if (before) add(before, -1);
    add(after, 1);
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
