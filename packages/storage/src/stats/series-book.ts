/** Ids of series: looked up once, cached, created where there is none. */
import type { Kysely } from 'kysely';
import type { Database, SeriesColumns } from '../schema.ts';
import { dimensions } from './dimension-names.ts';
import type { Scope, Values } from './dimensions.ts';

/** One combination of dimension values, and the text it is cached by. */
export interface SeriesKey {
  /** What the database knows it by. */
  text: string;
  scope: Scope;
  /** Those of the scope count. */
  values: Values;
  currency: string;
}

export type FreshSeries = readonly (readonly [key: string, id: number])[];

const maxRemembered = 200_000;
const perStatement = 500;
/** Names hold no control characters, so that no two series have one key. */
const between = '\u0001';

export class SeriesBook {
  readonly #ids = new Map<string, number>();

  /** All ids by key, inside the transaction of the writer. Pass `fresh` to `remember` after the commit: until then it may be rolled back. */
  async resolve(db: Kysely<Database>, keys: readonly SeriesKey[]): Promise<{ ids: ReadonlyMap<string, number>; fresh: FreshSeries }> {
    const found = new Map<string, number>();
    const missing = new Map<string, SeriesKey>();
    for (const key of keys) {
      const id = this.#ids.get(key.text);
      if (id === undefined) missing.set(key.text, key);
      else found.set(key.text, id);
    }
    const fresh: [string, number][] = [];
    // In a fixed order, so that two writers that create the same series cannot deadlock.
    const sorted = [...missing.values()].sort((one, other) => (one.text < other.text ? -1 : 1));
    for (let start = 0; start < sorted.length; start += perStatement) {
      const some = sorted.slice(start, start + perStatement);
      await db
        .insertInto('stat_series')
        .values(some.map(columnsOf))
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
    if (this.#ids.size + fresh.length > maxRemembered) this.#ids.clear();
    for (const [key, id] of fresh) this.#ids.set(key, id);
  }
}

/** What the database knows a series by. */
export function seriesText(scope: Scope, values: Values, currency: string): string {
  if (scope === 'all') return `all${between}${currency}${between}`;
  if (scope === 'full') return `full${between}${currency}${between}${dimensions.map((name) => values[name]).join(between)}`;
  return `${scope}${between}${currency}${between}${values[scope]}`;
}

function columnsOf({ text, scope, values, currency }: SeriesKey): Omit<SeriesColumns, 'id'> {
  const columns = { key: text, scope, currency } as Omit<SeriesColumns, 'id'>;
  for (const name of dimensions) columns[name] = scope === 'full' || scope === name ? values[name] : '';
  return columns;
}
