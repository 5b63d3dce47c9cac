/**
 * Packs rows for transfer between threads, column by column: numbers in one block of memory, each text once. Transferring an object for each row
 * would cost more than storing it.
 */
import type { RequestRow } from '@model-gateway/contracts';
import type { StorageDialect } from '../dialects/dialect.ts';
import { cleanText, maxTextLength } from '../requests/clean-text.ts';
import { absent, clampInteger, columnKinds, columnNames, jsonText, type Kind, type StoredRow } from '../requests/row-codec.ts';
import { RowOfColumns } from '../requests/row-of-columns.ts';

/** Rows in the form in which they are transferred to the row thread. */
export interface PackedRows {
  count: number;
  /** Column by column: a number, or the index of its text; NaN for none. */
  cells: Float64Array<ArrayBuffer>;
  texts: string[];
  /** JSON, which is never cut. */
  json: string[];
}

const kinds: readonly Kind[] = columnNames.map((name) => columnKinds[name]);

export function packRows(rows: readonly RequestRow[]): PackedRows {
  const cells = new Float64Array(rows.length * columnNames.length);
  const texts = new Places();
  const json = new Places();
  columnNames.forEach((name, column) => packers[kinds[column]!](rows, name, cells.subarray(column * rows.length, (column + 1) * rows.length), { texts, json }));
  return { count: rows.length, cells, texts: texts.list, json: json.list };
}

type Packer = (rows: readonly RequestRow[], name: keyof RequestRow, cells: Float64Array, places: { texts: Places; json: Places }) => void;

const packers: Record<Kind, Packer> = {
  text(rows, name, cells, { texts }) {
    for (let at = 0; at < cells.length; at++) {
      const value: unknown = rows[at]![name] ?? absent[name];
      cells[at] = value === null || value === undefined ? Number.NaN : texts.of(shorten(String(value)));
    }
  },
  integer(rows, name, cells) {
    for (let at = 0; at < cells.length; at++) {
      const value: unknown = rows[at]![name] ?? absent[name];
      cells[at] = typeof value === 'number' && Number.isFinite(value) ? clampInteger(value) : Number.NaN;
    }
  },
  boolean(rows, name, cells) {
    for (let at = 0; at < cells.length; at++) cells[at] = rows[at]![name] === true ? 1 : 0;
  },
  json(rows, name, cells, { json }) {
    for (let at = 0; at < cells.length; at++) cells[at] = json.of(jsonText(rows[at]![name]));
  },
};

const shorten = (text: string): string => (text.length > maxTextLength ? text.slice(0, maxTextLength) : text);

/** Texts, and the index of each. */
class Places {
  readonly list: string[] = [];
  readonly #places = new Map<string, number>();
  /** The previous row's texts: rows of a batch are much alike. */
  #last: string | null = null;
  #place = 0;

  of(text: string): number {
    if (text === this.#last) return this.#place;
    let place = this.#places.get(text);
    if (place === undefined) {
      place = this.list.push(text) - 1;
      this.#places.set(text, place);
    }
    this.#last = text;
    this.#place = place;
    return place;
  }
}

/** The rows as the database has them: each text is cleaned once. */
export function unpackRows({ count, cells, texts, json }: PackedRows, dialect: StorageDialect): StoredRow[] {
  const clean = texts.map((text) => cleanText(text));
  const cleanJson = json.map((text) => cleanText(text, Number.POSITIVE_INFINITY));
  const truth = [dialect.encodeBoolean(false), dialect.encodeBoolean(true)];
  const readers: Record<Kind, (cell: number) => unknown> = {
    text: (cell) => (Number.isNaN(cell) ? null : clean[cell]),
    integer: (cell) => (Number.isNaN(cell) ? null : cell),
    boolean: (cell) => truth[cell],
    json: (cell) => cleanJson[cell],
  };
  const rows = Array.from({ length: count }, () => new RowOfColumns());
  kinds.forEach((kind, column) => {
    const read = readers[kind];
    for (let at = 0; at < count; at++) rows[at]!.values[column] = read(cells[column * count + at]!);
  });
  return rows as unknown as StoredRow[];
}
