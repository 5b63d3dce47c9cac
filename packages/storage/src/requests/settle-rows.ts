/** Two rows of one request: what the edge told the caller, and what the translator did. Whichever comes first, the same is stored in the end. */
import { columnNames, type StoredRow } from './row-codec.ts';

export interface Settled {
  /** What stands in the request's place from now on; null: what is there stays. */
  row: StoredRow | null;
  /** What ran for a request that the gateway had refused. */
  orphan: StoredRow | null;
}

const nothing: Settled = { row: null, orphan: null };

const isTold = ({ authority, kind }: StoredRow): boolean => authority === 1 && kind === 'call';
/** The gateway gave up on it: its caller paid for nothing. */
const isRefusal = (row: StoredRow): boolean => isTold(row) && (row.status === 503 || row.status === 504);
const isLeft = (row: StoredRow): boolean => isTold(row) && row.status === 499;

/** `known` stands there, `row` comes. */
export function settleRows(known: StoredRow, row: StoredRow): Settled {
  const [told, ran] = known.authority <= row.authority ? [known, row] : [row, known];
  if (told.authority === ran.authority) return nothing;
  if (isRefusal(told)) return { row: told === known ? null : copyOf(told), orphan: hasRun(ran) ? orphanOf(ran) : null };
  // The caller saw that it left, and pays for what ran until then.
  const final = isLeft(told) && ran.status !== 499 ? { ...copyOf(ran), status: told.status, error_code: told.error_code } : ran;
  return { row: final === known ? null : copyOf(final), orphan: null };
}

/** A copy, whatever the row is made of. */
const copyOf = (row: StoredRow): StoredRow => Object.fromEntries(columnNames.map((name) => [name, row[name]])) as unknown as StoredRow;

const hasRun = ({ attempts, usage_source }: StoredRow): boolean => usage_source !== null || attempts !== '[]';

/** The request's own row has its id, so this one has another, which is the same whenever it is made. */
const orphanOf = (row: StoredRow): StoredRow => ({ ...copyOf(row), id: `${row.id}-orphan`, kind: 'orphan', of: row.id });
