/** PostgreSQL through pg: a small pool that outlives restarts of the server. */
import { PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { StorageDialect } from './dialect.ts';
import { createErrorTranslator } from './translate-error.ts';

export interface PostgresLogger {
  warn(fields: Record<string, unknown>, message: string): void;
}

const int8 = 20;
const json = 114;

/** bigint columns hold milliseconds and counters, all below 2^53; JSON stays text, so that both engines hand out the same. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === int8) return Number;
    if (oid === json) return (text: string) => text;
    return pg.types.getTypeParser(oid, format);
  },
} as pg.CustomTypesConfig;

/** A dropped socket or an exhausted pool has no SQLSTATE: pg says it in words. */
const lostConnection = /connection terminated|connection error|not queryable|timeout exceeded when trying to connect|query read timeout/i;

export function createPostgresDialect(url: string, logger: PostgresLogger): StorageDialect {
  const createPool = async (): Promise<pg.Pool> => {
    const pool = new pg.Pool({
      connectionString: url,
      max: 10,
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 30_000,
      statement_timeout: 15_000,
      query_timeout: 20_000,
      keepAlive: true,
      application_name: 'model-gateway',
      types,
    });
    // Without listeners, a connection that the server closes would end the process: the pool hears idle ones only, so each in use has its own.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', (error) => logger.warn({ error: error.message }, 'a database connection was lost')));
    return pool;
  };
  return {
    mode: 'postgresql',
    kysely: new PostgresDialect({ pool: createPool }),
    maxParameters: 65_535,
    types: { text: 'text collate "C"', integer: 'bigint', boolean: 'boolean', json: 'json' },
    encodeBoolean: (value) => value,
    contains: (column, text) => sql<boolean>`strpos(lower(${column}), lower(${text})) > 0`,
    snapshotIsolation: 'repeatable read',
    translateError: createErrorTranslator(
      [
        [/^(?:08|53|57|58|25006|28|3D|40|55P03)/, 'service_unavailable'],
        [/^E[A-Z]+$/, 'service_unavailable'],
        [/^23505$/, 'conflict'],
        [/^2350[013]$/, 'in_use'],
        [/^2[23]/, 'validation_failed'],
      ],
      (error) => lostConnection.test(error.message),
    ),
  };
}
