/** What running tasks hold of budgets: kept beside the tasks, so that it outlives every process. */
import type { SpendOwner } from '@model-gateway/contracts';
import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';

/** What a task that begins holds of the budgets of its access key and key group. */
export interface TaskReservation {
  accessKey: string;
  keyGroup: string;
  /** Millionths by currency. */
  amounts: Readonly<Record<string, number>>;
  /** When it ends by itself, in milliseconds since the epoch. */
  until: number;
}

/** Inside the transaction that adds the task. */
export async function addReservation(db: Kysely<Database>, task: { id: string; createdAt: number }, reservation: TaskReservation): Promise<void> {
  const { accessKey, keyGroup, amounts, until } = reservation;
  const rows = Object.entries(amounts)
    .filter(([, micros]) => micros > 0)
    .map(([currency, micros]) => ({ task: task.id, currency, access_key: accessKey, key_group: keyGroup, micros, created_at: task.createdAt, until }));
  if (rows.length > 0) await db.insertInto('task_reservations').values(rows).execute();
}

/** Nothing that ended before is held again. */
export async function holdUntil(db: Kysely<Database>, task: string, until: number): Promise<void> {
  await db.updateTable('task_reservations').set({ until }).where('task', '=', task).where('until', '>', until).execute();
}

/** Owners of one statement: far below every engine's limit of parameters. */
const ownersAtOnce = 500;

/** What tasks that began since each owner's `from` hold at `now`, in millionths. Those of one kind, currency and time are asked for together. */
export async function readHeld(db: Kysely<Database>, owners: readonly SpendOwner[], now: number): Promise<number[]> {
  const micros = owners.map(() => 0);
  for (const places of Map.groupBy(owners.keys(), (place) => alikeOf(owners[place])).values()) {
    for (let start = 0; start < places.length; start += ownersAtOnce) {
      const some = places.slice(start, start + ownersAtOnce);
      const sums = await sumOf(
        db,
        some.flatMap((place) => owners[place] ?? []),
        now,
      );
      for (const place of some) micros[place] = sums.get(owners[place]?.name ?? '') ?? 0;
    }
  }
  return micros;
}

const alikeOf = (owner: SpendOwner | undefined): string => JSON.stringify([owner?.kind, owner?.currency, owner?.from]);

/** Of owners that are alike but for their names. */
async function sumOf(db: Kysely<Database>, owners: readonly SpendOwner[], now: number): Promise<Map<string, number>> {
  const [first] = owners;
  if (!first) return new Map();
  const column = first.kind === 'key' ? 'access_key' : 'key_group';
  const rows = await db
    .selectFrom('task_reservations')
    .select((eb) => [`${column} as owner`, eb.fn.sum<number | string>('micros').as('micros')])
    .where(
      column,
      'in',
      owners.map(({ name }) => name),
    )
    .where('currency', '=', first.currency)
    .where('created_at', '>=', first.from)
    .where('until', '>', now)
    .groupBy(column)
    .execute();
  return new Map(rows.map(({ owner, micros }) => [owner, Number(micros)]));
}
