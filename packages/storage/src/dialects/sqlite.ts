/** SQLite through node:sqlite: one file, one connection, WAL. */

import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { GatewayError } from '@model-gateway/contracts/errors';
import { SqliteAdapter, type SqliteDatabase, SqliteDialect, type SqliteStatement, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { addCounts } from '../stats/histogram.ts';
import type { StorageDialect } from './dialect.ts';
import { createErrorTranslator, fullDisk } from './translate-error.ts';

/** How long a statement waits for another writer's lock. The wait blocks this thread, so it is short. */
const busyTimeoutMs = 2_000;
/** Compiled statements that are kept: compiling is most of what a short one costs. */
const maxCompiled = 200;

export function createSqliteDialect(file: string): StorageDialect {
  let database: DatabaseSync | undefined;
  let verify = (): void => undefined;
  const each = new Map<string, StatementSync>();
  // The transaction's connection is the only one, so these statements can only run there. Reusing a compiled statement costs a quarter of building
  // and compiling it anew, and rows of statistics are written for every request.
  const compiled = (statement: string): StatementSync => {
    if (!database) throw new Error('no transaction is open');
    let one = each.get(statement);
    if (!one) {
      one = database.prepare(statement);
      each.set(statement, one);
    }
    return one;
  };
  return {
    mode: 'sqlite',
    kysely: new TransactionalSqliteDialect({
      database: async () => {
        database = openFile(file);
        verify = unmoved(file);
        each.clear();
        return forKysely(database, verify);
      },
    }),
    verify: () => verify(),
    runEach(statement, parameters) {
      const one = compiled(statement);
      return parameters.map((values) => Number(one.run(...(values as SQLInputValue[])).changes));
    },
    readEach(statement, parameters) {
      const one = compiled(statement);
      return parameters.flatMap((values) => one.all(...(values as SQLInputValue[])));
    },
    maxParameters: 32_766,
    types: { text: 'text', integer: 'integer', boolean: 'integer', json: 'text' },
    identity: 'integer not null primary key',
    compactTable: 'without rowid',
    partitionsByDay: false,
    countsLater: true,
    minOf: 'min',
    greatestOf: 'max',
    addCounts: 'add_counts',
    encodeBoolean: (value) => (value ? 1 : 0),
    contains: (column, text) => sql<boolean>`instr(lower(${column}), lower(${text})) > 0`,
    mentions: (column, text) => sql<boolean>`instr(${column}, ${text}) > 0`,
    // Most documents do not even have the word: they are not parsed for it.
    holds: (column, key, text) =>
      sql<boolean>`(instr(${column}, ${JSON.stringify(text)}) > 0 and exists (select 1 from json_each(${column}, ${`$.${key}`}) as element where element.value = ${text}))`,
    elements: (column, key) => sql`json_each(${column}, ${`$.${key}`}) as t`,
    // Extended result codes of SQLite as node:sqlite gives them.
    translateError: createErrorTranslator(
      [
        // FULL
        [/^sqlite:13\./, 'service_unavailable', fullDisk],
        // BUSY, LOCKED, READONLY, IOERR, CORRUPT, CANTOPEN, PROTOCOL, NOTADB
        [/^sqlite:(?:5|6|8|10|11|14|15|26)\./, 'service_unavailable'],
        // CONSTRAINT: UNIQUE, PRIMARYKEY
        [/^sqlite:19\.(?:2067|1555)$/, 'conflict'],
        // CONSTRAINT: FOREIGNKEY, TRIGGER
        [/^sqlite:19\.(?:787|1811)$/, 'in_use'],
        // other CONSTRAINT, TOOBIG, MISMATCH, RANGE
        [/^sqlite:(?:19|18|20|25)\./, 'validation_failed'],
      ],
      {
        codeOf: (error) => resultCode((error as { errcode?: unknown }).errcode),
        // A full disk ends the transaction, after which rolling back to its savepoints and ending it are errors.
        isLost: ({ message }) => /no transaction is active|no such savepoint/.test(message),
      },
    ),
  };
}

/**
 * SQLite takes changes of the schema in transactions, which Kysely does not make use of: a process that was killed in the midst of a migration would leave
 * half of it, and no later start could go on from there.
 */
class TransactionalSqliteDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new TransactionalSqliteAdapter();
  }
}

class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** `sqlite:PRIMARY.EXTENDED`; undefined for errors that are not SQLite's. */
const resultCode = (code: unknown): string | undefined => (typeof code === 'number' ? `sqlite:${code & 0xff}.${code}` : undefined);

function openFile(file: string): DatabaseSync {
  if (file !== ':memory:') prepareFile(file);
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  database.exec('pragma journal_mode = WAL');
  // With WAL, NORMAL can lose the last commits in a power cut but never corrupts; a row of statistics is not worth an fsync.
  database.exec('pragma synchronous = NORMAL');
  // 16 MB between checkpoints: tables that grow at their end rewrite the same pages, and each checkpoint syncs.
  database.exec('pragma wal_autocheckpoint = 4000');
  database.function('add_counts', { deterministic: true }, (one, other) => addCounts(String(one), String(other)));
  return database;
}

/**
 * Readable by its owner only, like the key file beside it: SQLite itself would create it readable for everybody, and gives its side files the same
 * permissions. A file that exists is not opened: closing it again would drop the locks that other connections of this process hold on it (POSIX), and
 * the next foreign reader to leave (a backup) would take itself for the last one and remove the WAL that they go on writing to.
 */
function prepareFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // A failure here (it exists) is ignored: SQLite itself reports a full disk or an unwritable file, and another user's file keeps its permissions.
  ignoreFault(() => closeSync(openSync(file, 'wx', 0o600)));
  for (const one of [file, `${file}-wal`, `${file}-shm`]) ignoreFault(() => chmodSync(one, 0o600));
}

function ignoreFault(work: () => void): void {
  try {
    work();
  } catch {
    // As the caller says.
  }
}

/**
 * Throws where the file is not the one that was opened any more: it was deleted, or a backup was moved over it. What would be written then would be gone
 * with this process, so it is refused, and waits. SQLite itself tells by the same number, but not with a WAL.
 */
function unmoved(file: string): () => void {
  if (file === ':memory:') return () => undefined;
  const place = (): string | undefined => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found && `${found.dev}:${found.ino}`;
  };
  const opened = place();
  return () => {
    if (place() === opened) return;
    const cause = new Error(`${file} was deleted or replaced while it was open: put it back, or restart the process to use the one that is there`);
    throw new GatewayError('service_unavailable', { message: 'The database is unavailable.', cause });
  };
}

/** Statements that begin a transaction or change something. */
const changes = /^\s*(?:begin|insert|update|delete|replace)\b/i;

/** What Kysely asks of a driver. `verify` is called before each transaction, and before each statement that changes something outside one. */
function forKysely(database: DatabaseSync, verify: () => void): SqliteDatabase {
  const compiled = new LRUCache<string, SqliteStatement>({ max: maxCompiled });
  const before = (): void => {
    if (!database.isTransaction) verify();
  };
  return {
    close: () => database.close(),
    prepare(text) {
      const known = compiled.get(text);
      if (known) return known;
      const made = text === 'rollback' ? rollbackOf(database) : statementOf(database.prepare(text), changes.test(text) ? before : undefined);
      compiled.set(text, made);
      return made;
    },
  };
}

/** A full disk has already rolled the transaction back: a second rollback would fail and hide the cause. */
function rollbackOf(database: DatabaseSync): SqliteStatement {
  const { run, ...rest } = statementOf(database.prepare('rollback'));
  return { ...rest, run: (parameters) => (database.isTransaction ? run(parameters) : { changes: 0, lastInsertRowid: 0 }) };
}

function statementOf(statement: StatementSync, before?: () => void): SqliteStatement {
  const values = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[];
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => {
      before?.();
      return statement.all(...values(parameters));
    },
    run: (parameters) => {
      before?.();
      return statement.run(...values(parameters));
    },
    iterate: (parameters) => statement.iterate(...values(parameters)) as IterableIterator<unknown>,
  };
}
