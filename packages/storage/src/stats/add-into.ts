/** Adds figures to tables of sums: a row that is not there begins with them. One statement for many rows, or one compiled statement for each. */
import { CompiledQuery, type Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import { addCounts } from './histogram.ts';

export interface SumTable {
  name: string;
  keys: readonly { name: string; type: 'text' | 'integer' }[];
  /** What comes is added, or the smaller or larger value stays, or counts by bucket (`histogram.ts`) are added up. */
  values: readonly { name: string; how: 'add' | 'least' | 'greatest' | 'counts' }[];
}

type Row = readonly (string | number)[];

const rowsPerStatement = 5_000;

/** `rows`: keys, then values, in their order, sorted by key and each key once: writers that lock rows in one order cannot block each other. */
export async function addInto(db: Kysely<Database>, dialect: StorageDialect, table: SumTable, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  if (dialect.runEach)
    return void dialect.runEach(
      `${insertInto(table)} values (${columnsOf(table)
        .map(() => '?')
        .join(', ')}) ${merge(table, dialect)}`,
      rows,
    );
  for (let start = 0; start < rows.length; start += rowsPerStatement) await addTogether(db, dialect, table, rows.slice(start, start + rowsPerStatement));
}

const columnsOf = ({ keys, values }: SumTable) => [
  ...keys,
  ...values.map(({ name, how }) => ({ name, type: how === 'counts' ? ('text' as const) : ('integer' as const) })),
];
const namesOf = (columns: readonly { name: string }[]): string => columns.map(({ name }) => name).join(', ');
const insertInto = (table: SumTable): string => `insert into ${table.name} as t (${namesOf(columnsOf(table))})`;

function merge({ keys, values }: SumTable, dialect: StorageDialect): string {
  const merges = {
    add: (column: string) => `t.${column} + excluded.${column}`,
    least: (column: string) => `${dialect.leastOf}(t.${column}, excluded.${column})`,
    greatest: (column: string) => `${dialect.greatestOf}(t.${column}, excluded.${column})`,
    // Where the engine cannot, the row that stands keeps its counts, and `addTogether` adds to them.
    counts: (column: string) => (dialect.addCounts ? `${dialect.addCounts}(t.${column}, excluded.${column})` : `t.${column}`),
  };
  const sets = values.map(({ name, how }) => `${name} = ${merges[how](name)}`);
  return `on conflict (${namesOf(keys)}) do update set ${sets.join(', ')}`;
}

/** An array for each column, whatever the number of rows. Whole numbers are written as the array's own text: the driver would quote each. */
const arraysOf = (columns: readonly { type: 'text' | 'integer' }[], rows: readonly Row[]): unknown[] =>
  columns.map(({ type }, at) => (type === 'text' ? rows.map((row) => row[at]) : `{${rows.map((row) => row[at]).join(',')}}`));
const unnest = (columns: readonly { type: 'text' | 'integer' }[]): string =>
  `unnest(${columns.map(({ type }, at) => `$${at + 1}::${type === 'text' ? 'text' : 'bigint'}[]`).join(', ')})`;

async function addTogether(db: Kysely<Database>, dialect: StorageDialect, table: SumTable, rows: readonly Row[]): Promise<void> {
  const columns = columnsOf(table);
  const counts = table.values.filter(({ how }) => how === 'counts');
  // Rows that the statement made have no earlier version: theirs are the counts that came.
  const returning = counts.length === 0 ? '' : ` returning ${namesOf(table.keys)}, ${namesOf(counts)}, xmax = 0 as fresh`;
  const text = `${insertInto(table)} select * from ${unnest(columns)} ${merge(table, dialect)}${returning}`;
  const { rows: found } = await db.executeQuery<Record<string, string | number> & { fresh: boolean }>(CompiledQuery.raw(text, arraysOf(columns, rows)));
  const stood = found.filter(({ fresh }) => !fresh);
  if (counts.length > 0 && stood.length > 0) await addToCounts(db, table, rows, stood);
}

/** The rows are locked by the statement before, so that what was read of them holds until they are written. */
async function addToCounts(db: Kysely<Database>, table: SumTable, rows: readonly Row[], stood: readonly Record<string, string | number>[]): Promise<void> {
  const keys = [...table.keys];
  const counts = columnsOf(table).filter(({ name }) => table.values.some((value) => value.name === name && value.how === 'counts'));
  const places = counts.map(({ name }) => columnsOf(table).findIndex((column) => column.name === name));
  const mine = new Map(rows.map((row) => [row.slice(0, keys.length).join('\u0001'), row]));
  const changed = stood.flatMap((old) => {
    const row = mine.get(keys.map(({ name }) => old[name]).join('\u0001'));
    if (!row || places.every((place) => row[place] === '')) return [];
    return [[...row.slice(0, keys.length), ...counts.map(({ name }, at) => addCounts(String(old[name]), String(row[places[at]!])))]];
  });
  if (changed.length === 0) return;
  const columns = [...keys, ...counts];
  await db.executeQuery(
    CompiledQuery.raw(
      `update ${table.name} as t set ${counts.map(({ name }) => `${name} = u.${name}`).join(', ')}
       from ${unnest(columns)} as u(${namesOf(columns)}) where ${keys.map(({ name }) => `t.${name} = u.${name}`).join(' and ')}`,
      arraysOf(columns, changed),
    ),
  );
}
