/** Reads and writes one table of configuration resources; the tables differ only in their definition. */
import { foldPerson } from '@model-gateway/contracts';
import { type Kysely, type SqlBool, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { AccessKeyColumns, Database, ModelColumns, PricingColumns, ResourceColumns } from '../schema.ts';
import type { StoredResource } from './documents.ts';
import { type CatalogSection, type ChangeRecorder, imageOf } from './row-change.ts';

/** One page of a list, with its filters and order. */
export interface ListQuery {
  /** From 1. */
  page: number;
  pageSize: number;
  /** Literal text, searched in the definition's columns. */
  search?: string;
  /** Look-up columns that must hold just this. */
  equal?: Partial<Record<'upstream' | 'group_name' | 'model' | 'owner', string>>;
  /** Of what has tags: all of these. */
  tags?: readonly string[];
  /** A column of the definition's `sortable`. Default: name. */
  sort?: { column: string; descending: boolean };
}

/** The rows of one page, and the number of all that match. */
export interface ListPage<D> {
  items: StoredResource<D>[];
  total: number;
}

/** Columns that only some tables have. */
type OwnColumns = Partial<
  Pick<ModelColumns, 'upstream'> & Pick<PricingColumns, 'model'> & Pick<AccessKeyColumns, 'group_name' | 'hash' | 'sealed' | 'owner' | 'previous_hash'>
>;
type AnyColumns = ResourceColumns & OwnColumns;

/** How one table of configuration resources maps documents to columns. */
export interface ResourceDefinition<D extends { name: string }> {
  table:
    | 'upstreams'
    | 'models'
    | 'load_balancers'
    | 'key_groups'
    | 'access_keys'
    | 'model_pricing'
    | 'search_providers'
    | 'search_config'
    | 'mcp_servers'
    | 'alert_channels';
  section: Exclude<CatalogSection, 'load_balancer_pins'>;
  /** Names that a list may be sorted by → column. */
  sortable: Readonly<Record<string, keyof AnyColumns>>;
  searched: readonly (keyof AnyColumns)[];
  /** Splits a document into look-up columns and the JSON beside them. */
  toColumns(document: D): { columns: OwnColumns; json: unknown };
  fromColumns(json: never, columns: AnyColumns): D;
}

/** Reads one table of configuration resources. */
export interface ResourceRepository<D extends { name: string }> {
  find(name: string): Promise<StoredResource<D> | null>;
  list(query: ListQuery): Promise<ListPage<D>>;
  /** Ids of the rows of these names, few at a time: they are parameters of one statement. */
  ids(names: readonly string[]): Promise<string[]>;
  /** The rows of these names, few at a time: they are parameters of one statement. */
  named(names: readonly string[]): Promise<StoredResource<D>[]>;
  /** Every row, by name. */
  all(): Promise<StoredResource<D>[]>;
  /** Rows that may have a text in this field, by name: filtered by their JSON text, so that the others are not parsed. */
  withText(field: string): Promise<StoredResource<D>[]>;
  /** Rows that have this value in a look-up column, at most `limit`, by name. */
  where(column: 'upstream' | 'group_name' | 'hash' | 'previous_hash' | 'owner', value: string, limit: number): Promise<StoredResource<D>[]>;
}

/** Writes one table of configuration resources, inside a catalog transaction. */
export interface ResourceWriter<D extends { name: string }> extends ResourceRepository<D> {
  /** Throws `conflict` when the name (or a unique column) is taken. */
  insert(id: string, document: D): Promise<StoredResource<D>>;
  update(stored: StoredResource<D>, document: D): Promise<StoredResource<D>>;
  /** Restores a row as it once was, replacing the one that has its name now. Its secrets are bound to its id, which is restored too. */
  restore(row: { id: string; createdAt: number; document: D }): Promise<StoredResource<D>>;
  /** Throws `in_use` when another table refers to it. */
  remove(stored: StoredResource<D>): Promise<void>;
}

/** Revision, time and change recorder that all writers of one transaction share. */
export interface WriteContext {
  etag: number;
  now: number;
  recorder: ChangeRecorder;
}

type ResourceDatabase = Kysely<{ upstreams: AnyColumns }>;

export function createRepository<D extends { name: string }>(
  db: Kysely<Database>,
  dialect: StorageDialect,
  definition: ResourceDefinition<D>,
): ResourceRepository<D> {
  const { rows, toStored } = bind(db, definition);
  const mentioning = async (text: string) => {
    const found = await rows()
      .selectAll()
      .where((eb) => dialect.mentions(eb.ref('document'), text))
      .orderBy('name')
      .execute();
    return found.map(toStored);
  };
  return {
    async find(name) {
      const row = await rows().selectAll().where('name', '=', name).executeTakeFirst();
      return row ? toStored(row) : null;
    },
    async list({ page, pageSize, search, equal = {}, tags = [], sort }) {
      let matching = search ? rows().where((eb) => eb.or(definition.searched.map((column) => dialect.contains(eb.ref(column), search)))) : rows();
      for (const [column, value] of Object.entries(equal))
        matching = matching.where(sql<SqlBool>`${sql.ref(column)} = ${column === 'owner' ? foldPerson(value) : value}`);
      for (const tag of tags) matching = matching.where((eb) => dialect.holds(eb.ref('document'), 'tags', tag));
      const { total } = await matching.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
      const column = definition.sortable[sort?.column ?? 'name'] ?? 'name';
      const direction = sort?.descending ? 'desc' : 'asc';
      // Only ids are sorted: documents are long, and only those of the page are needed.
      const ids = matching
        .select('id')
        .orderBy(column, direction)
        .orderBy('id')
        .limit(pageSize)
        .offset((page - 1) * pageSize);
      const items = await rows().selectAll().where('id', 'in', ids).orderBy(column, direction).orderBy('id').execute();
      return { items: items.map(toStored), total: Number(total) };
    },
    ids: async (names) => (names.length === 0 ? [] : (await rows().select('id').where('name', 'in', names).execute()).map(({ id }) => id)),
    named: async (names) => (names.length === 0 ? [] : (await rows().selectAll().where('name', 'in', names).execute()).map(toStored)),
    all: async () => (await rows().selectAll().orderBy('name').execute()).map(toStored),
    withText: (field) => mentioning(`${JSON.stringify(field)}:"`),
    where: async (column, value, limit) =>
      (
        await rows()
          .selectAll()
          .where(sql<SqlBool>`${sql.ref(column)} = ${value}`)
          .orderBy('name')
          .limit(limit)
          .execute()
      ).map(toStored),
  };
}

export function createWriter<D extends { name: string }>(
  db: Kysely<Database>,
  dialect: StorageDialect,
  definition: ResourceDefinition<D>,
  { etag, now, recorder }: WriteContext,
): ResourceWriter<D> {
  const { writable, table } = bind(db, definition);
  const reader = createRepository(db, dialect, definition);
  const section = definition.section;
  return {
    ...reader,
    async insert(id, document) {
      const { columns, json } = definition.toColumns(document);
      const common = { id, name: document.name, etag, document: JSON.stringify(json), created_at: now, updated_at: now };
      await writable
        .insertInto(table)
        .values({ ...common, ...columns })
        .execute();
      const stored = { id, etag, document, createdAt: now, updatedAt: now };
      recorder.record(section, document.name, null, imageOf(stored));
      return stored;
    },
    async update(stored, document) {
      const { columns, json } = definition.toColumns(document);
      const changed = { name: document.name, etag, document: JSON.stringify(json), updated_at: now, ...columns };
      await writable.updateTable(table).set(changed).where('id', '=', stored.id).execute();
      const updated = { ...stored, etag, document, updatedAt: now };
      recorder.record(section, document.name, imageOf(stored), imageOf(updated));
      return updated;
    },
    async restore({ id, createdAt, document }) {
      const { columns, json } = definition.toColumns(document);
      const { name } = document;
      const known = await reader.find(name);
      const row = { id, name, etag, document: JSON.stringify(json), created_at: createdAt, updated_at: now, ...columns };
      if (known) await writable.updateTable(table).set(row).where('name', '=', name).execute();
      else await writable.insertInto(table).values(row).execute();
      const stored = { id, etag, document, createdAt, updatedAt: now };
      recorder.record(section, name, known && imageOf(known), imageOf(stored));
      return stored;
    },
    async remove(stored) {
      await writable.deleteFrom(table).where('id', '=', stored.id).execute();
      recorder.record(section, stored.document.name, imageOf(stored), null);
    },
  };
}

/** Kysely types a table by its literal name; all share these columns, so one of them stands for all. */
function bind<D extends { name: string }>(db: Kysely<Database>, definition: ResourceDefinition<D>) {
  const writable = db as unknown as ResourceDatabase;
  const table = definition.table as 'upstreams';
  return {
    writable,
    table,
    rows: () => writable.selectFrom(table),
    toStored: (row: AnyColumns): StoredResource<D> => ({
      id: row.id,
      etag: row.etag,
      document: definition.fromColumns(JSON.parse(row.document) as never, row),
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    }),
  };
}
