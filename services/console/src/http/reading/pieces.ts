/** A value in pieces that each take little time to hand over: long lists of an object come a few entries at a time. */
import type { FromThread } from './messages.ts';

/** Values of a piece, about; an entry by itself may have more. */
const pieceValues = 5_000;
const longList = 50;

export function* piecesOf(value: unknown): Generator<FromThread> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    yield { value };
    return;
  }
  const lists = Object.entries(value).filter((field): field is [string, unknown[]] => Array.isArray(field[1]) && field[1].length > longList);
  yield { value: { ...value, ...Object.fromEntries(lists.map(([field]) => [field, []])) } };
  for (const [field, list] of lists) {
    let entries: unknown[] = [];
    let values = 0;
    for (const entry of list) {
      entries.push(entry);
      values += countValues(entry);
      if (values < pieceValues) continue;
      yield { field, entries };
      entries = [];
      values = 0;
    }
    if (entries.length > 0) yield { field, entries };
  }
}

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const child of Object.values(value)) count += countValues(child);
  return count;
}

/** Takes the pieces up again, the first one first. */
export function addPiece(value: unknown, piece: { field: string; entries: unknown[] }): void {
  (value as Record<string, unknown[]>)[piece.field]!.push(...piece.entries);
}
