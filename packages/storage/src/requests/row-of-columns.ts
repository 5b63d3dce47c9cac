/** A row stored as the list of its column values, which is what a statement binds, with access by column name. */
import { columnNames, type StoredRow } from './row-codec.ts';

export class RowOfColumns {
  readonly values: unknown[] = new Array(columnNames.length);
}
columnNames.forEach((name, column) =>
  Object.defineProperty(RowOfColumns.prototype, name, {
    get(this: RowOfColumns) {
      return this.values[column];
    },
  }),
);

/** The columns of a row in their order. */
export const columnValues = (row: StoredRow): readonly unknown[] => (row instanceof RowOfColumns ? row.values : columnNames.map((name) => row[name]));
