/** Merges two rows of one request: what the edge answered, and what the translator did. Whichever arrives first, the result is the same. */
import { columnNames, type StoredRow } from './row-codec.ts';

/** The result of merging two rows of one request. */
export interface Settled {
  /** The request's row from now on; null: the stored row stays. */
  row: StoredRow | null;
  /** What ran for a request that the gateway had already refused. */
  orphan: StoredRow | null;
}

const nothing: Settled = { row: null, orphan: null };

const isTold = ({ authority, kind }: StoredRow): boolean => authority === 1 && kind === 'call';
/** The gateway had given up on the request: its caller pays nothing. */
const isRefusal = (row: StoredRow): boolean => isTold(row) && (row.status === 503 || row.status === 504);
/** Its caller left, or saw its stream break. */
const isCutShort = (row: StoredRow): boolean => isTold(row) && (row.status === 499 || row.ending !== null);

/** What the caller saw, which the edge alone knows. */
const seen = ['status', 'error_code', 'ending', 'duration_ms', 'response_bytes'] as const satisfies readonly (keyof StoredRow)[];

/** `known` is stored, `row` arrives. */
export function settleRows(known: StoredRow, row: StoredRow): Settled {
  const [preferred, ran] = known.authority <= row.authority ? [known, row] : [row, known];
  if (preferred.authority === ran.authority) return nothing;
  if (isRefusal(preferred)) return { row: preferred === known ? null : copyOf(preferred), orphan: hasRun(ran) ? orphanOf(ran) : null };
  // Its caller pays for what ran until then.
  const final = isCutShort(preferred) ? asSeen(preferred, ran) : ran;
  return { row: final === known ? null : copyOf(final), orphan: null };
}

/** What ran, with what the caller saw of it. */
const asSeen = (edgeRow: StoredRow, ran: StoredRow): StoredRow =>
  seen.every((name) => ran[name] === edgeRow[name]) ? ran : Object.assign(copyOf(ran), Object.fromEntries(seen.map((name) => [name, edgeRow[name]])));

/** A copy, whatever the row is made of. */
const copyOf = (row: StoredRow): StoredRow => Object.fromEntries(columnNames.map((name) => [name, row[name]])) as unknown as StoredRow;

const hasRun = ({ attempts, usage_source }: StoredRow): boolean => usage_source !== null || attempts !== '[]';

/** The request's own row has its id, so the orphan gets another, derived from it so that it is the same each time. */
const orphanOf = (row: StoredRow): StoredRow => ({ ...copyOf(row), id: `${row.id}-orphan`, kind: 'orphan', of: row.id });
