/** Sums of spending by owner and day, kept in step with the rows they come from: a row that replaces another adds the difference. */
import type { SpendOwner } from '@model-gateway/contracts';
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import { addInto, type SumTable } from '../stats/add-into.ts';
import type { Tally } from '../stats/tally.ts';
import { dayMs, dayOf } from './days.ts';

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

/** Owners of one statement: far below every engine's limit of parameters. */
const ownersAtOnce = 500;
/** Of more, the sums of all are read. */
const maxAskedByName = 2_000;

/** How far the clocks of others may be ahead. */
const aheadMs = 3_600_000;

/**
 * Since each one's `from`, in millionths; 0 for whom nothing is known. Those of one kind, currency and time are asked for together. What a clock that was
 * wrong for a while dated to later days is of their periods, and not of each one until then.
 */
export async function readSpent(db: Kysely<Database>, owners: readonly SpendOwner[], now: number): Promise<number[]> {
  const until = now + aheadMs;
  const micros = owners.map(() => 0);
  for (const places of Map.groupBy(owners.keys(), (place) => alikeOf(owners[place])).values()) {
    const atOnce = places.length > maxAskedByName ? places.length : ownersAtOnce;
    for (let start = 0; start < places.length; start += atOnce) {
      const some = places.slice(start, start + atOnce);
      const sums = await sumOf(
        db,
        some.flatMap((place) => owners[place] ?? []),
        until,
      );
      for (const place of some) micros[place] = sums.get(owners[place]?.name ?? '') ?? 0;
    }
  }
  return micros;
}

const alikeOf = (owner: SpendOwner | undefined): string => JSON.stringify([owner?.kind, owner?.currency, owner?.from]);

/** Of owners that are alike but for their names; of days and months that begin before `until`. */
async function sumOf(db: Kysely<Database>, owners: readonly SpendOwner[], until: number): Promise<Map<string, number>> {
  const [first] = owners;
  if (!first) return new Map();
  // Sums of months say the same in fewer rows where a period begins with one.
  const byMonth = isMonthStart(first.from);
  const since = byMonth
    ? db.selectFrom('spend_months').select(['owner_kind', 'owner', 'currency', 'micros']).where('month', '>=', first.from).where('month', '<=', until)
    : db.selectFrom('spend_days').select(['owner_kind', 'owner', 'currency', 'micros']).where('day', '>=', first.from).where('day', '<=', until);
  const all = db
    .selectFrom(since.as('sums'))
    .select((eb) => ['owner', eb.fn.sum<number | string>('micros').as('micros')])
    .where('owner_kind', '=', first.kind)
    .where('currency', '=', first.currency)
    .groupBy('owner');
  const names = owners.map(({ name }) => name);
  const rows = await (owners.length > maxAskedByName ? all : all.where('owner', 'in', names)).execute();
  return new Map(rows.map(({ owner, micros }) => [owner, Number(micros)]));
}

const isMonthStart = (time: number): boolean => {
  const date = new Date(time);
  return date.getUTCDate() === 1 && time % dayMs === 0;
};
