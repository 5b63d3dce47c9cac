/** Adds figures to tables of sums: a missing row starts with them. One statement for many rows, or one compiled statement for each. */
import { CompiledQuery, type Kysely } from 'kysely';
import { arrayText, unnestOf } from '../dialects/column-arrays.ts';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import { readCounts, writeCounts } from './histogram.ts';

/** A table of sums: its key columns, and how each value column is merged. */
export interface SumTable {
  name: string;
  keys: readonly { name: string; type: 'text' | 'integer' }[];
  /** How a value is merged: added up, the smaller or the larger kept, or, for counts by bucket (`histogram.ts`), added by bucket. */
  values: readonly { name: string; how: 'add' | 'min' | 'greatest' | 'counts' }[];
}

type Row = readonly (string | number)[];

const rowsPerStatement = 5_000;

/** `rows`: keys, then values, in their order, sorted by key with each key once: writers that lock rows in the same order cannot deadlock. */
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
    min: (column: string) => `${dialect.minOf}(t.${column}, excluded.${column})`,
    greatest: (column: string) => `${dialect.greatestOf}(t.${column}, excluded.${column})`,
    // Where the engine cannot add them they are appended, which means the same, until `addTogether` finds them too long.
    counts: (column: string) =>
      dialect.addCounts
        ? `${dialect.addCounts}(t.${column}, excluded.${column})`
        : `case when excluded.${column} = '' then t.${column} else t.${column} || ' ' || excluded.${column} end`,
  };
  const sets = values.map(({ name, how }) => `${name} = ${merges[how](name)}`);
  return `on conflict (${namesOf(keys)}) do update set ${sets.join(', ')}`;
}

const arraysOf = (columns: readonly { type: 'text' | 'integer' }[], rows: readonly Row[]): string[] =>
  columns.map(({ type }, at) => arrayText(columnTypes[type], rows, (row) => row[at]));
const unnest = (columns: readonly { type: 'text' | 'integer' }[]): string => unnestOf(columns.map(({ type }) => columnTypes[type]));
const columnTypes = { text: 'text', integer: 'bigint' } as const;

/** Appended counts are added up beyond this many characters: most rows never get there, and a second write costs as much as the first. */
const maxCountsLength = 600;

async function addTogether(db: Kysely<Database>, dialect: StorageDialect, table: SumTable, rows: readonly Row[]): Promise<void> {
  const columns = columnsOf(table);
  const counts = columns.filter(({ name }) => table.values.some((value) => value.name === name && value.how === 'counts'));
  const write = `${insertInto(table)} select * from ${unnest(columns)} ${merge(table, dialect)}`;
  if (counts.length === 0) return void (await db.executeQuery(CompiledQuery.raw(write, arraysOf(columns, rows))));
  const wanted = namesOf([...table.keys, ...counts]);
  const long = counts.map(({ name }) => `length(${name}) > ${maxCountsLength}`).join(' or ');
  const { rows: found } = await db.executeQuery<Record<string, string | number>>(
    CompiledQuery.raw(`with written as (${write} returning ${wanted}) select ${wanted} from written where ${long}`, arraysOf(columns, rows)),
  );
  if (found.length > 0) await shorten(db, table, counts, found);
}

/** The rows are locked by the statement before, so that what was read of them holds until they are written. */
async function shorten(
  db: Kysely<Database>,
  table: SumTable,
  counts: readonly { name: string; type: 'text' | 'integer' }[],
  found: readonly Record<string, string | number>[],
): Promise<void> {
  const columns = [...table.keys, ...counts];
  const rows = found.map((row) => [...table.keys.map(({ name }) => row[name]!), ...counts.map(({ name }) => addedUp(String(row[name])))]);
  await db.executeQuery(
    CompiledQuery.raw(
      `update ${table.name} as t set ${counts.map(({ name }) => `${name} = u.${name}`).join(', ')}
       from ${unnest(columns)} as u(${namesOf(columns)}) where ${table.keys.map(({ name }) => `t.${name} = u.${name}`).join(' and ')}`,
      arraysOf(columns, rows),
    ),
  );
}

const addedUp = (counts: string): string => writeCounts(readCounts(new Map(), counts));
