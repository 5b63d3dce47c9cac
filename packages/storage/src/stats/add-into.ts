/** Adds figures to tables of sums: a row that is not there begins with them. One statement for many rows, or one compiled statement for each. */
import { CompiledQuery, type Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';

export interface SumTable {
  name: string;
  keys: readonly { name: string; type: 'text' | 'integer' }[];
  /** What comes is added, or the smaller or larger value stays. */
  values: readonly { name: string; how: 'add' | 'least' | 'greatest' }[];
}

const rowsPerStatement = 5_000;

/** `rows`: keys, then values, in their order, sorted by key and each key once: writers that lock rows in one order cannot block each other. */
export async function addInto(db: Kysely<Database>, dialect: StorageDialect, table: SumTable, rows: readonly (readonly (string | number)[])[]): Promise<void> {
  if (rows.length === 0) return;
  if (dialect.runEach) return void dialect.runEach(statement(table, dialect, placeholders(table)), rows);
  for (let start = 0; start < rows.length; start += rowsPerStatement) {
    const some = rows.slice(start, start + rowsPerStatement);
    // Whole numbers are written as the array's own text: the driver would quote each.
    const columns = [...table.keys, ...table.values].map((column, at) =>
      'type' in column && column.type === 'text' ? some.map((row) => row[at]) : `{${some.map((row) => row[at]).join(',')}}`,
    );
    await db.executeQuery(CompiledQuery.raw(statement(table, dialect, arrays(table)), columns));
  }
}

const placeholders = ({ keys, values }: SumTable): string => `values (${[...keys, ...values].map(() => '?').join(', ')})`;

/** A parameter for each column, whatever the number of rows. */
const arrays = ({ keys, values }: SumTable): string =>
  `select * from unnest(${[...keys.map(({ type }) => (type === 'text' ? 'text' : 'bigint')), ...values.map(() => 'bigint')]
    .map((type, at) => `$${at + 1}::${type}[]`)
    .join(', ')})`;

function statement({ name, keys, values }: SumTable, dialect: StorageDialect, source: string): string {
  const merge = {
    add: (column: string) => `t.${column} + excluded.${column}`,
    least: (column: string) => `${dialect.leastOf}(t.${column}, excluded.${column})`,
    greatest: (column: string) => `${dialect.greatestOf}(t.${column}, excluded.${column})`,
  };
  const names = [...keys, ...values].map((column) => column.name).join(', ');
  const sets = values.map((column) => `${column.name} = ${merge[column.how](column.name)}`).join(', ');
  return `insert into ${name} as t (${names}) ${source} on conflict (${keys.map((column) => column.name).join(', ')}) do update set ${sets}`;
}
