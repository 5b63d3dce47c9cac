/** Opens the database that the configuration names, and hands out its repositories. */
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import { Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { type Alerts, createAlertStore } from './alerts/alerts.ts';
import { type AuditLogs, createAuditLogs } from './audit/audit-logs.ts';
import { createStoredBodies, type StoredBodies } from './bodies/stored-bodies.ts';
import { type CatalogStore, createCatalogStore } from './catalog/catalog-store.ts';
import { type ConsoleStore, createConsoleStore } from './console/console-store.ts';
import { readDamage } from './damaged-database.ts';
import { createDeadLetters, type DeadLetters } from './dead-letters/dead-letters.ts';
import type { StorageDialect } from './dialects/dialect.ts';
import { createPostgresDialect, type PostgresTls } from './dialects/postgres.ts';
import { createSqliteDialect } from './dialects/sqlite.ts';
import { type CatalogHistory, createHistory } from './history/history.ts';
import { createKeyAddresses, type KeyAddresses } from './key-use/key-addresses.ts';
import { createMcpTools, type McpTools } from './mcp/mcp-tools.ts';
import { createMigrationProvider } from './migrations/index.ts';
import { readNewerSchema } from './newer-schema.ts';
import { createLastUsed, type LastUsed } from './requests/last-used.ts';
import { createRequestStats, type RequestStats } from './requests/request-stats.ts';
import type { Database } from './schema.ts';
import { createSsoCredentials, type SsoCredentialRepository } from './sso/sso-credentials.ts';
import { createTasks, type TasksRepository } from './tasks/tasks.ts';
import { createThreadedRequests } from './thread/threaded-requests.ts';
import { createTurns, type TurnsRepository } from './turns/turns.ts';

/** `file` may be `:memory:`. */
export type StorageTarget = { mode: 'sqlite'; file: string } | { mode: 'postgresql'; url: string; tls?: PostgresTls | undefined };

/** The part of a pino-like logger that storage uses. */
export interface StorageLogger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

/** Logger, clock and retention of an opened database. */
export interface OpenOptions {
  logger: StorageLogger;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** Commits of the configuration that are remembered. Default: 1,000. */
  historyRevisions?: number;
}

/** The opened database with its repositories. */
export interface Storage {
  readonly mode: 'sqlite' | 'postgresql';
  /** For an operator: the file, or server and database without credentials. */
  readonly address: string;
  readonly catalog: CatalogStore;
  readonly requests: RequestStats;
  /** Request and response bodies, for key groups that store them. */
  readonly bodies: StoredBodies;
  /** Stored turns and conversations of callers. */
  readonly turns: TurnsRepository;
  /** Work of upstreams that callers ask about later. */
  readonly tasks: TasksRepository;
  /** Credentials that upstreams get by a login. */
  readonly ssoCredentials: SsoCredentialRepository;
  /** What alerts tell: what is known to be the case, and the messages about it. */
  readonly alerts: Alerts;
  readonly audit: AuditLogs;
  /** Durable messages that failed validation. */
  readonly deadLetters: DeadLetters;
  readonly mcpTools: McpTools;
  readonly history: CatalogHistory;
  readonly lastUsed: LastUsed;
  /** From which addresses access keys were used. */
  readonly keyAddresses: KeyAddresses;
  /** Console users and their sessions. */
  readonly console: ConsoleStore;
  /**
   * Brings the schema up to date. Several processes may do so at once. Rejects `service_unavailable` when the database is unavailable, and with one line
   * for an operator when a newer version has migrated it, or its file is damaged.
   */
  migrate(): Promise<void>;
  /** Rejects `service_unavailable` when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Connects on first use: opening never fails because the database is unavailable. */
export function openStorage(target: StorageTarget, { logger, now = Date.now, historyRevisions = 1_000 }: OpenOptions): Storage {
  const dialect = target.mode === 'sqlite' ? createSqliteDialect(target.file) : createPostgresDialect(target, logger);
  const db = new Kysely<Database>({ dialect: dialect.kysely });
  // SQLite's calls block: request log rows are written with every request, and queries about them take long, so they have a thread. A database in
  // memory has only one connection.
  const threaded = target.mode === 'sqlite' && target.file !== ':memory:' ? createThreadedRequests(target.file) : null;
  const address = addressOf(target);
  return {
    mode: target.mode,
    address,
    catalog: createCatalogStore(db, dialect, { now, historyRevisions }),
    bodies: createStoredBodies(db, dialect, now, threaded?.bodies),
    turns: createTurns(db, dialect, now),
    tasks: createTasks(db, dialect, now),
    ssoCredentials: createSsoCredentials(db, dialect, now),
    alerts: createAlertStore(db, dialect, now),
    audit: createAuditLogs(db, dialect),
    deadLetters: createDeadLetters(db, dialect),
    mcpTools: createMcpTools(db, dialect),
    history: createHistory(db, dialect),
    lastUsed: createLastUsed(db, dialect, now),
    keyAddresses: createKeyAddresses(db, dialect),
    console: createConsoleStore(db, dialect, now),
    requests: threaded ?? createRequestStats(db, dialect, now),
    async migrate() {
      if (!dialect.patient) return migrate(db, dialect, { logger, address });
      const patient = new Kysely<Database>({ dialect: dialect.patient() });
      try {
        await migrate(patient, dialect, { logger, address });
      } finally {
        await patient.destroy();
      }
    },
    async ping() {
      try {
        await sql`select 1`.execute(db);
        dialect.verify?.();
      } catch (error) {
        throw isGatewayError(error) ? error : new GatewayError('service_unavailable', { message: 'The database is unavailable.', cause: error });
      }
    },
    async close() {
      await threaded?.close();
      await db.destroy();
    },
  };
}

/** SQLite has no lock across processes for a migration: the second process tries again and finds the work done. */
const migrationTries = 3;

function addressOf(target: StorageTarget): string {
  if (target.mode === 'sqlite') return target.file;
  try {
    const { hostname, port, pathname } = new URL(target.url);
    return `${hostname}:${port || 5432}${pathname}`;
  } catch {
    // Several hosts in one address; it may hold a password.
    return 'of DATABASE_URL';
  }
}

async function migrate(db: Kysely<Database>, dialect: StorageDialect, { logger, address }: { logger: StorageLogger; address: string }): Promise<void> {
  const migrator = new Migrator({ db, provider: createMigrationProvider(dialect) });
  for (let tries = 1; ; tries++) {
    const { error, results } = await migrator.migrateToLatest();
    const migrations = (results ?? []).flatMap(({ migrationName, status }) => (status === 'Success' ? [migrationName] : []));
    if (migrations.length > 0) logger.info({ migrations }, 'the schema was migrated');
    if (error === undefined) return;
    const fault = readNewerSchema(error, address) ?? readDamage(error, address);
    if (fault) throw fault;
    // Who asked for it says why it failed in the end.
    if (dialect.mode === 'postgresql' || tries === migrationTries) throw dialect.translateError(error);
    await new Promise((resolve) => setTimeout(resolve, 200 * tries));
  }
}
