/** The repository of stored bodies: expired ones are not found, and are deleted in small pieces. */
import type { BodyEntry, RequestBodies } from '@model-gateway/contracts';
import { type Kysely, sql } from 'kysely';
import { deleteInPieces } from '../delete-in-pieces.ts';
import type { StorageDialect } from '../dialects/dialect.ts';
import { cleanText } from '../requests/clean-text.ts';
import type { BodyColumns, Database } from '../schema.ts';

/** Which stored bodies to list. */
export interface BodyQuery {
  clientProtocol?: string;
  keyGroup?: string;
  limit: number;
}

/** The repository of stored request and response bodies. */
export interface StoredBodies {
  /** May be repeated: existing bodies stay. */
  insert(bodies: RequestBodies): Promise<void>;
  find(id: string): Promise<RequestBodies | null>;
  has(id: string): Promise<boolean>;
  /** Newest first. */
  list(query: BodyQuery): Promise<BodyEntry[]>;
  /** Deletes what has expired. Resolves with the number deleted. */
  prune(stopped?: () => boolean): Promise<number>;
}

const entryColumns = ['id', 'started_at', 'expires_at', 'access_key', 'key_group', 'model', 'client_protocol', 'path', 'stream', 'status'] as const;
/** Each may be a megabyte: deleting this many at once does not block the gateway's thread for long on SQLite. */
const rowsAtOnce = 20;
const wholly = Number.POSITIVE_INFINITY;

/**
 * The writes to the table. SQLite has one writer at a time: there, the row thread does these writes, so that the gateway's own thread never waits for
 * its lock.
 */
export interface BodyWriter {
  insert(bodies: RequestBodies): Promise<void>;
  /** Forgets what expires by `before`. */
  prune(before: number, stopped?: () => boolean): Promise<number>;
}

const translating = (dialect: StorageDialect) =>
  async function translate<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw dialect.translateError(error);
    }
  };

export function createBodyWriter(db: Kysely<Database>, dialect: StorageDialect): BodyWriter {
  const translate = translating(dialect);
  return {
    insert: (bodies) =>
      translate(async () => {
        await db
          .insertInto('request_bodies')
          .values(encode(bodies, dialect))
          .onConflict((conflict) => conflict.columns(['started_at', 'id']).doNothing())
          .execute();
      }),
    prune: (before, stopped = () => false) =>
      translate(() =>
        deleteInPieces(
          db,
          { table: 'request_bodies', key: ['started_at', 'id'], where: sql`expires_at <= ${before}`, order: 'expires_at', rowsAtOnce },
          stopped,
        ),
      ),
  };
}

export function createStoredBodies(db: Kysely<Database>, dialect: StorageDialect, now: () => number, writer = createBodyWriter(db, dialect)): StoredBodies {
  const translate = translating(dialect);
  return {
    insert: (bodies) => writer.insert(bodies),
    find: (id) =>
      translate(async () => {
        const columns = await db.selectFrom('request_bodies').selectAll().where('id', '=', id).where('expires_at', '>', now()).executeTakeFirst();
        return columns ? decode(columns) : null;
      }),
    has: (id) =>
      translate(async () => {
        const found = await db.selectFrom('request_bodies').select('id').where('id', '=', id).where('expires_at', '>', now()).executeTakeFirst();
        return found !== undefined;
      }),
    list: ({ clientProtocol, keyGroup, limit }) =>
      translate(async () => {
        let query = db.selectFrom('request_bodies').select(entryColumns).where('expires_at', '>', now());
        if (clientProtocol !== undefined) query = query.where('client_protocol', '=', clientProtocol);
        if (keyGroup !== undefined) query = query.where('key_group', '=', keyGroup);
        const found = await query.orderBy('started_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
        return found.map(decodeEntry);
      }),
    prune: (stopped) => writer.prune(now(), stopped),
  };
}

const encode = ({ request, response, ...entry }: RequestBodies, dialect: StorageDialect): BodyColumns => ({
  ...entry,
  model: entry.model === null ? null : cleanText(entry.model),
  path: cleanText(entry.path),
  stream: dialect.encodeBoolean(entry.stream),
  request: cleanText(request.text, wholly),
  request_bytes: request.bytes,
  request_truncated: dialect.encodeBoolean(request.truncated),
  response: cleanText(response.text, wholly),
  response_bytes: response.bytes,
  response_truncated: dialect.encodeBoolean(response.truncated),
});

const decodeEntry = (columns: Pick<BodyColumns, (typeof entryColumns)[number]>): BodyEntry => ({ ...columns, stream: Boolean(columns.stream) });

function decode({ request, request_bytes, request_truncated, response, response_bytes, response_truncated, ...columns }: BodyColumns): RequestBodies {
  return {
    ...decodeEntry(columns),
    request: { text: request, bytes: request_bytes, truncated: Boolean(request_truncated) },
    response: { text: response, bytes: response_bytes, truncated: Boolean(response_truncated) },
  };
}
