/** SQLite through better-sqlite3: one file, one connection, WAL. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { SqliteDialect, sql } from 'kysely';
import type { StorageDialect } from './dialect.ts';
import { createErrorTranslator } from './translate-error.ts';

/** How long a statement waits for another process's lock. The wait blocks this process, so it is short. */
const busyTimeoutMs = 2_000;

export function createSqliteDialect(file: string): StorageDialect {
  let database: BetterSqlite.Database | undefined;
  const compiled = new Map<string, BetterSqlite.Statement>();
  return {
    mode: 'sqlite',
    kysely: new SqliteDialect({
      database: async () => {
        database = openFile(file);
        compiled.clear();
        return database;
      },
    }),
    // The one connection is the transaction's: there is no other that these could run on. A compiled statement costs a quarter of one that is
    // built and compiled anew (24 µs against 6 µs a row measured), and rows of statistics are the price of every request.
    runEach(statement, parameters) {
      if (!database) throw new Error('no transaction is open');
      let one = compiled.get(statement);
      if (!one) {
        one = database.prepare(statement);
        compiled.set(statement, one);
      }
      const statementOf = one;
      return parameters.map((values) => statementOf.run(values).changes);
    },
    maxParameters: 32_766,
    types: { text: 'text', integer: 'integer', boolean: 'integer', json: 'text' },
    identity: 'integer not null primary key',
    compactTable: 'without rowid',
    partitionsByDay: false,
    countsLater: true,
    leastOf: 'min',
    greatestOf: 'max',
    encodeBoolean: (value) => (value ? 1 : 0),
    contains: (column, text) => sql<boolean>`instr(lower(${column}), lower(${text})) > 0`,
    translateError: createErrorTranslator([
      [/^SQLITE_(?:BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|NOTADB|CORRUPT|PROTOCOL)/, 'service_unavailable'],
      [/^SQLITE_CONSTRAINT_(?:UNIQUE|PRIMARYKEY)$/, 'conflict'],
      [/^SQLITE_CONSTRAINT_(?:FOREIGNKEY|TRIGGER)$/, 'in_use'],
      [/^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG|RANGE)/, 'validation_failed'],
    ]),
  };
}

function openFile(file: string): BetterSqlite.Database {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const database = new BetterSqlite(file, { timeout: busyTimeoutMs });
  database.pragma('journal_mode = WAL');
  // With WAL, NORMAL can lose the last commits in a power cut but never corrupts; a row of statistics is not worth an fsync.
  database.pragma('synchronous = NORMAL');
  database.pragma('foreign_keys = ON');
  return database;
}
