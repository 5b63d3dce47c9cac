/** Rows between threads: numbers in one block of memory, each text once. An object for each row would cost more to hand over than to store. */
import type { RequestRow } from '@model-gateway/contracts';
import type { StorageDialect } from '../dialects/dialect.ts';
import { cleanText, longestText } from '../requests/clean-text.ts';
import { clampInteger, columnKinds, columnNames, jsonText, type Kind, type StoredRow } from '../requests/row-codec.ts';

export interface PackedRows {
  count: number;
  /** Row by row in the order of the columns: a number, or where its text stands; NaN for none. */
  cells: Float64Array<ArrayBuffer>;
  texts: string[];
  /** From here on texts are JSON, which is never cut. */
  json: string[];
}

const kinds: readonly Kind[] = columnNames.map((name) => columnKinds[name]);

export function packRows(rows: readonly RequestRow[]): PackedRows {
  const cells = new Float64Array(rows.length * columnNames.length);
  const places = new Map<string, number>();
  const jsonPlaces = new Map<string, number>();
  let at = 0;
  for (const row of rows)
    for (let column = 0; column < kinds.length; column++) {
      const value = row[columnNames[column]!];
      cells[at++] = packers[kinds[column]!](value, places, jsonPlaces);
    }
  return { count: rows.length, cells, texts: [...places.keys()], json: [...jsonPlaces.keys()] };
}

type Places = Map<string, number>;

const packers: Record<Kind, (value: unknown, places: Places, jsonPlaces: Places) => number> = {
  text(value, places) {
    if (value === null || value === undefined) return Number.NaN;
    const text = String(value);
    return placeOf(text.length > longestText ? text.slice(0, longestText) : text, places);
  },
  integer: (value) => (typeof value === 'number' && Number.isFinite(value) ? clampInteger(value) : Number.NaN),
  boolean: (value) => (value === true ? 1 : 0),
  json: (value, _places, jsonPlaces) => placeOf(jsonText(value), jsonPlaces),
};

function placeOf(text: string, places: Places): number {
  const known = places.get(text);
  if (known !== undefined) return known;
  places.set(text, places.size);
  return places.size - 1;
}

/** The rows as the database has them: each text is cleaned once. */
export function unpackRows({ count, cells, texts, json }: PackedRows, dialect: StorageDialect): StoredRow[] {
  const clean = texts.map((text) => cleanText(text));
  const cleanJson = json.map((text) => cleanText(text, Number.POSITIVE_INFINITY));
  const [no, yes] = [dialect.encodeBoolean(false), dialect.encodeBoolean(true)];
  const readers: Record<Kind, (cell: number) => unknown> = {
    text: (cell) => (Number.isNaN(cell) ? null : clean[cell]),
    integer: (cell) => (Number.isNaN(cell) ? null : cell),
    boolean: (cell) => (cell === 1 ? yes : no),
    json: (cell) => cleanJson[cell],
  };
  let at = 0;
  return Array.from({ length: count }, () => {
    const row: Record<string, unknown> = {};
    for (let column = 0; column < kinds.length; column++) row[columnNames[column]!] = readers[kinds[column]!](cells[at++]!);
    return row as StoredRow;
  });
}
