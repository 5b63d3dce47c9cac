/** What the two database engines do differently, as one value per engine. */
import type { Dialect, Expression, RawBuilder, SqlBool } from 'kysely';

/** How an engine connects, and how its statements and transactions are run. */
export interface ConnectionDialect {
  mode: 'sqlite' | 'postgresql';
  /** Opens connections on first use. */
  kysely: Dialect;
  /** For schema changes, whose statements may take minutes on large tables: a connection without a statement time-out. Absent where there is none. */
  patient?: () => Dialect;
  /** Throws `service_unavailable` when what was opened is not what the address leads to any more. Absent where connections tell. */
  verify?(): void;
  /** Bound parameters that one statement may hold. */
  maxParameters: number;
  /**
   * Runs one statement for many parameter lists, compiled once, inside the transaction that the caller holds. Absent where a statement with
   * many rows is the cheaper way (a round trip each would be expensive). Returns the number of rows that each changed.
   */
  runEach?(statement: string, parameters: readonly (readonly unknown[])[]): number[];
  /** The same for a statement that gives rows; all of them, in order. Absent where `runEach` is. */
  readEach?(statement: string, parameters: readonly (readonly unknown[])[]): Record<string, unknown>[];
  /** Isolation under which several reads see one state; absent where every transaction gives it. */
  snapshotIsolation?: 'repeatable read';
  /** A driver's error as a GatewayError (`service_unavailable`, `conflict`, `in_use`, `validation_failed`) with the original as cause; others as they are. */
  translateError(error: unknown): unknown;
}

/** How tables are defined. */
export interface SchemaDialect {
  /** Column types that differ. Text compares by bytes on both, so that sorting and paging agree. */
  types: { text: string; integer: string; boolean: string; json: string };
  /** Column definition of a number that the database counts up. */
  identity: string;
  /** Suffix of the definition of a table of whole numbers that is only read by its key. */
  compactTable: string;
  /** Rows of requests are stored in partitions of a day each. */
  partitionsByDay: boolean;
}

/** How expressions and values are written. */
export interface ExpressionDialect {
  /** The functions for the smaller and the larger of two values. */
  minOf: string;
  greatestOf: string;
  /** A function that adds two texts of counts by bucket; absent where the engine has none. */
  addCounts?: string;
  encodeBoolean(value: boolean): unknown;
  /** Case-insensitive (ASCII) search for a literal text: no pattern characters. */
  contains(column: Expression<unknown>, text: string): Expression<SqlBool>;
  /** Whether the text of a JSON column contains this text. */
  mentions(column: Expression<unknown>, text: string): Expression<SqlBool>;
  /** Whether the array of texts at this key of a JSON object contains this text. `key` is a constant of ours. */
  holds(column: Expression<unknown>, key: string, text: string): Expression<SqlBool>;
  /** The array of texts at this key of a JSON object as rows `t.value`, to be joined. `key` is a constant of ours. */
  elements(column: Expression<unknown>, key: string): RawBuilder<unknown>;
}

/** One database engine. */
export interface StorageDialect extends ConnectionDialect, SchemaDialect, ExpressionDialect {
  /** Rows are added up in larger batches than they are written: a statement is cheap, but runs on the gateway's own thread. */
  countsLater: boolean;
}
