/** Numbers of series: looked up once, remembered, made where there is none. */
import type { Kysely } from 'kysely';
import type { Database, SeriesColumns } from '../schema.ts';
import { dimensions, type Scope, type Values } from './dimensions.ts';

export interface SeriesKey {
  /** What the database knows it by. */
  text: string;
  columns: Omit<SeriesColumns, 'id'>;
}

export type FreshSeries = readonly (readonly [key: string, id: number])[];

const mostRemembered = 200_000;
const perStatement = 500;
/** Names hold no control characters, so that no two series have one key. */
const between = '\u0001';

export class SeriesBook {
  readonly #ids = new Map<string, number>();

  keyOf(scope: Scope, values: Values, currency: string): SeriesKey {
    const own = (name: (typeof dimensions)[number]): string => (scope === 'full' || scope === name ? values[name] : '');
    const columns = { scope, currency } as Omit<SeriesColumns, 'id'>;
    for (const name of dimensions) columns[name] = own(name);
    columns.key =
      scope === 'full'
        ? [scope, currency, ...dimensions.map((name) => values[name])].join(between)
        : [scope, currency, scope === 'all' ? '' : values[scope]].join(between);
    return { text: columns.key, columns };
  }

  /** All ids by key, inside the transaction of the writer. `fresh` is to be told to `remember` when that has ended well: it may yet be rolled back. */
  async resolve(db: Kysely<Database>, keys: readonly SeriesKey[]): Promise<{ ids: ReadonlyMap<string, number>; fresh: FreshSeries }> {
    const found = new Map<string, number>();
    const missing = new Map<string, SeriesKey>();
    for (const key of keys) {
      const id = this.#ids.get(key.text);
      if (id === undefined) missing.set(key.text, key);
      else found.set(key.text, id);
    }
    const fresh: [string, number][] = [];
    // In one order, so that two writers that make the same series wait for one another in one direction.
    const sorted = [...missing.values()].sort((one, other) => (one.text < other.text ? -1 : 1));
    for (let start = 0; start < sorted.length; start += perStatement) {
      const some = sorted.slice(start, start + perStatement);
      await db
        .insertInto('stat_series')
        .values(some.map(({ columns }) => columns))
        .onConflict((conflict) => conflict.column('key').doNothing())
        .execute();
      const rows = await db
        .selectFrom('stat_series')
        .select(['id', 'key'])
        .where(
          'key',
          'in',
          some.map(({ text }) => text),
        )
        .execute();
      for (const { id, key } of rows) {
        found.set(key, id);
        fresh.push([key, id]);
      }
    }
    return { ids: found, fresh };
  }

  remember(fresh: FreshSeries): void {
    if (this.#ids.size + fresh.length > mostRemembered) this.#ids.clear();
    for (const [key, id] of fresh) this.#ids.set(key, id);
  }
}
