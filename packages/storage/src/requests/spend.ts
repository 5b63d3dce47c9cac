/** Sums of money by owner and day, kept in step with the rows they come from: a row that replaces another adds the difference. */
import type { RequestRow, SpendOwner } from '@model-gateway/contracts';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';

const dayMs = 86_400_000;

export const costsMoney = ({ cost_micros }: RequestRow): boolean => cost_micros !== null && cost_micros !== 0;

interface Known {
  authority: number;
  micros: number;
  currency: string | null;
}

const keyOf = (row: { started_at: number; id: string }): string => `${row.started_at}:${row.id}`;

/** Inside the transaction that writes the rows: `before` writing, then `after`. Writers take turns from here on. */
export async function followSpend(db: Kysely<Database>, rows: readonly RequestRow[], write: () => Promise<void>): Promise<void> {
  await db.updateTable('spend_turn').set({ turn: sql<number>`turn + 1` }).where('id', '=', 1).execute();
  const known = await readKnown(db, rows);
  await write();
  await addSums(db, sumsOf(rows, known));
}

async function readKnown(db: Kysely<Database>, rows: readonly RequestRow[]): Promise<Map<string, Known>> {
  const found = await db
    .selectFrom('request_stats')
    .select(['started_at', 'id', 'authority', 'cost_micros', 'currency'])
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    )
    .execute();
  return new Map(
    found.map(({ started_at, id, authority, cost_micros, currency }) => [
      keyOf({ started_at, id }),
      { authority, micros: Number(cost_micros ?? 0), currency: currency as string | null },
    ]),
  );
}

/** Owner, currency and day → what has come to it. */
type Sums = Map<string, { owner_kind: 'key' | 'group'; owner: string; currency: string; day: number; micros: number }>;

function sumsOf(rows: readonly RequestRow[], known: Map<string, Known>): Sums {
  const sums: Sums = new Map();
  const add = (row: RequestRow, currency: string | null, micros: number): void => {
    if (currency === null || micros === 0) return;
    const day = Math.floor(row.started_at / dayMs) * dayMs;
    for (const [owner_kind, owner] of [
      ['key', row.access_key],
      ['group', row.key_group],
    ] as const) {
      if (owner === null) continue;
      const id = JSON.stringify([owner_kind, owner, currency, day]);
      const sum = sums.get(id) ?? { owner_kind, owner, currency, day, micros: 0 };
      sum.micros += micros;
      sums.set(id, sum);
    }
  };
  for (const row of rows) {
    const before = known.get(keyOf(row));
    if (before && before.authority >= row.authority) continue;
    if (before) add(row, before.currency, -before.micros);
    add(row, row.currency, row.cost_micros ?? 0);
    // The same row may stand twice in one batch.
    known.set(keyOf(row), { authority: row.authority, micros: row.cost_micros ?? 0, currency: row.currency });
  }
  return sums;
}

async function addSums(db: Kysely<Database>, sums: Sums): Promise<void> {
  for (const sum of sums.values()) {
    await db
      .insertInto('spend_days')
      .values(sum)
      .onConflict((conflict) =>
        conflict
          .columns(['owner_kind', 'owner', 'currency', 'day'])
          .doUpdateSet((eb) => ({ micros: sql<number>`${eb.ref('spend_days.micros')} + ${eb.ref('excluded.micros')}` })),
      )
      .execute();
  }
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
