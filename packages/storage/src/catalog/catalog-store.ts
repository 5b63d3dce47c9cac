/** The configuration: consistent reads, and writes that move the revision on in the same transaction. */
import type { AuditRow, CatalogRows, CatalogState } from '@model-gateway/contracts';
import { type Kysely, sql } from 'kysely';
import { insertRecords } from '../audit/audit-logs.ts';
import type { StorageDialect } from '../dialects/dialect.ts';
import { type CommitAuthor, changesBetween, commitTime, writeCommit } from '../history/history.ts';
import type { Database } from '../schema.ts';
import { createSsoCredentials, type SsoCredentialRepository } from '../sso/sso-credentials.ts';
import { type BalancerLinks, type BalancerLinkWriter, createBalancerLinks } from './balancer-links.ts';
import { type BudgetHolder, readBudgetHolders } from './budget-owners.ts';
import { balancerRow, groupRow, keyRow, mcpServerRow, modelRow, pricingRow, searchConfigRow, searchProviderRow, upstreamRow } from './catalog-rows.ts';
import {
  accessKeyDefinition,
  alertChannelDefinition,
  keyGroupDefinition,
  loadBalancerDefinition,
  mcpServerDefinition,
  modelDefinition,
  pricingDefinition,
  searchConfigDefinition,
  searchProviderDefinition,
  upstreamDefinition,
} from './definitions.ts';
import type {
  AccessKeyDocument,
  AlertChannelDocument,
  KeyGroupDocument,
  LoadBalancerDocument,
  McpServerDocument,
  ModelDocument,
  PricingDocument,
  SearchConfigDocument,
  SearchProviderDocument,
  StoredResource,
  UpstreamDocument,
} from './documents.ts';
import { createModelNames, type ModelNames, type ModelNameWriter } from './model-names.ts';
import { createRepository, createWriter, type ResourceRepository, type ResourceWriter, type WriteContext } from './resource-repository.ts';
import { createRecorder, type RowChange } from './row-change.ts';
import { createSwitchLinks, type SwitchLinks, type SwitchLinkWriter, switchTargets } from './switch-links.ts';

/** Read access to every table of the configuration. */
/** What refers to what, and which names are taken. */
export interface CatalogLinks {
  balancerLinks: BalancerLinks;
  switchLinks: SwitchLinks;
  modelNames: ModelNames;
}

export interface CatalogReader extends CatalogLinks {
  upstreams: ResourceRepository<UpstreamDocument>;
  models: ResourceRepository<ModelDocument>;
  loadBalancers: ResourceRepository<LoadBalancerDocument>;
  pricing: ResourceRepository<PricingDocument>;
  alertChannels: ResourceRepository<AlertChannelDocument>;
  searchProviders: ResourceRepository<SearchProviderDocument>;
  /** One row at most. */
  searchConfig: ResourceRepository<SearchConfigDocument>;
  mcpServers: ResourceRepository<McpServerDocument>;
  keyGroups: ResourceRepository<KeyGroupDocument>;
  accessKeys: ResourceRepository<AccessKeyDocument>;
}

/** One transaction that changes the configuration. */
export interface CatalogTransaction {
  /** The revision that this transaction makes. */
  revision: number;
  /** What this transaction did so far. */
  changes(): RowChange[];
  /**
   * Runs a step that may fail: then its writes are undone (what it added to `changes` remains), its error is thrown translated, and the transaction
   * can continue.
   */
  attempt<T>(work: () => Promise<T>): Promise<T>;
  /** As `CatalogHistory.between`, up to the present state, seen from inside. */
  changesSince(revision: number): Promise<RowChange[] | null>;
}

/** Write access to every table of the configuration, inside one transaction. */
/** Kept in step by the writers of what has links. */
interface CatalogLinkWriters {
  balancerLinks: BalancerLinkWriter;
  switchLinks: SwitchLinkWriter;
  modelNames: ModelNameWriter;
}

export interface CatalogWriter extends CatalogTransaction, CatalogLinkWriters {
  /** Keeps links in step. */
  upstreams: ResourceWriter<UpstreamDocument>;
  /** Keeps names and links in step. */
  models: ResourceWriter<ModelDocument>;
  /** Keeps names and links in step. */
  loadBalancers: ResourceWriter<LoadBalancerDocument>;
  pricing: ResourceWriter<PricingDocument>;
  alertChannels: ResourceWriter<AlertChannelDocument>;
  searchProviders: ResourceWriter<SearchProviderDocument>;
  searchConfig: ResourceWriter<SearchConfigDocument>;
  mcpServers: ResourceWriter<McpServerDocument>;
  keyGroups: ResourceWriter<KeyGroupDocument>;
  accessKeys: ResourceWriter<AccessKeyDocument>;
  /** What upstreams refer to: written in the same transaction, and not in the history of the configuration. */
  ssoCredentials: Pick<SsoCredentialRepository, 'find' | 'insert' | 'update'>;
}

/** A commit of this process: the new revision, the one before it, and the changed rows. */
export interface CatalogChange extends CatalogState {
  previous: number;
  previousCommittedAt: number | undefined;
  changes: readonly RowChange[];
}

/** How to commit a change, and what to record about it. */
export interface ChangeOptions<T> {
  /** Looks at the result: false rolls everything back (dry runs, nothing changed). */
  keep?: (result: T, changes: readonly RowChange[]) => boolean;
  /** The actor, for the history. */
  author?: CommitAuthor | ((result: T) => CommitAuthor);
  /** Audit records of the change: committed with it or, when the database rejects them, not at all (`recorded`). */
  records?: (made: MadeChange<T>) => readonly AuditRow[];
}

/** The result of a transaction. */
export interface MadeChange<T> {
  value: T;
  /** The new one, or the present one when nothing was kept. */
  revision: number;
  /** What `work` did, kept or not. */
  changes: RowChange[];
}

/** Whether a transaction changed anything, and whether its audit records were stored. */
export interface ChangeResult<T> extends MadeChange<T> {
  changed: boolean;
  /** Whether `records` were written to the audit log. */
  recorded: boolean;
}

/** The stored configuration of the gateway. */
export interface CatalogStore extends CatalogReader {
  revision(): Promise<number>;
  /** Its revision, and when that was committed. */
  state(): Promise<CatalogState>;
  /** The whole configuration at one revision. */
  load(): Promise<CatalogRows>;
  /** Keys and groups that have a budget. */
  budgetHolders(): Promise<BudgetHolder[]>;
  /** Several reads of one state. */
  read<T>(work: (reader: CatalogReader) => Promise<T>): Promise<T>;
  /** Runs `work` in one transaction. Writers of all processes are serialized, so what `work` checked stays true until it ends. */
  change<T>(work: (writer: CatalogWriter) => Promise<T>, options?: ChangeOptions<T>): Promise<ChangeResult<T>>;
  /** Called after each commit of this process. Returns how to unsubscribe. */
  onChange(callback: (change: CatalogChange) => void): () => void;
}

/** Carries a result out of a transaction that is to be rolled back. */
class Abandoned<T> extends Error {
  readonly value: T;
  constructor(value: T) {
    super('rolled back on purpose');
    this.value = value;
  }
}

export function createCatalogStore(
  db: Kysely<Database>,
  dialect: StorageDialect,
  { now, historyRevisions }: { now: () => number; historyRevisions: number },
): CatalogStore {
  const listeners = new Set<(change: CatalogChange) => void>();
  const translate = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw dialect.translateError(error);
    }
  };
  const read = <T>(work: (db: Kysely<Database>) => Promise<T>) =>
    translate(() => {
      const transaction = db.transaction();
      return (dialect.snapshotIsolation ? transaction.setIsolationLevel(dialect.snapshotIsolation) : transaction).execute(work);
    });

  return {
    ...translateReader(createReader(db, dialect), translate),
    revision: async () => (await translate(() => readState(db))).revision,
    state: () => translate(() => readState(db)),
    load: () => read((transaction) => loadRows(transaction, dialect)),
    budgetHolders: () => read(readBudgetHolders),
    read: (work) => read((transaction) => work(createReader(transaction, dialect))),
    async change(work, options = {}) {
      let revision = 0;
      let at = 0;
      let previousCommittedAt: number | undefined;
      let recorded = false;
      const recorder = createRecorder();
      const run = db.transaction().execute(async (transaction) => {
        revision = await moveRevision(transaction);
        previousCommittedAt = await commitTime(transaction, revision - 1);
        at = now();
        const value = await work(createCatalogWriter(transaction, dialect, { etag: revision, now: at, recorder }));
        const changes = recorder.changes();
        if (options.keep && !options.keep(value, changes)) throw new Abandoned(value);
        const author = typeof options.author === 'function' ? options.author(value) : options.author;
        await writeCommit(transaction, { revision, at, author, changes, keep: historyRevisions });
        recorded = await keepRecords(transaction, dialect, options.records?.({ value, revision, changes }) ?? []);
        return value;
      });
      try {
        const value = await run;
        const changes = recorder.changes();
        for (const listener of listeners) listener({ revision, committedAt: at, previous: revision - 1, previousCommittedAt, changes });
        return { value, revision, changed: true, recorded, changes };
      } catch (error) {
        if (error instanceof Abandoned) return { value: error.value, revision: revision - 1, changed: false, recorded: false, changes: recorder.changes() };
        throw dialect.translateError(error);
      }
    },
    onChange(callback) {
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
  };
}

function createReader(db: Kysely<Database>, dialect: StorageDialect): CatalogReader {
  return {
    upstreams: createRepository(db, dialect, upstreamDefinition),
    models: createRepository(db, dialect, modelDefinition),
    loadBalancers: createRepository(db, dialect, loadBalancerDefinition),
    balancerLinks: createBalancerLinks(db, dialect),
    pricing: createRepository(db, dialect, pricingDefinition),
    alertChannels: createRepository(db, dialect, alertChannelDefinition),
    searchProviders: createRepository(db, dialect, searchProviderDefinition),
    searchConfig: createRepository(db, dialect, searchConfigDefinition),
    mcpServers: createRepository(db, dialect, mcpServerDefinition),
    switchLinks: createSwitchLinks(db),
    keyGroups: createRepository(db, dialect, keyGroupDefinition),
    accessKeys: createRepository(db, dialect, accessKeyDefinition),
    modelNames: createModelNames(db, dialect),
  };
}

function createCatalogWriter(db: Kysely<Database>, dialect: StorageDialect, context: WriteContext): CatalogWriter {
  const revision = context.etag;
  const modelNames = createModelNames(db, dialect);
  const balancerLinks = createBalancerLinks(db, dialect, context.recorder);
  const switchLinks = createSwitchLinks(db);
  const linkModel = async (id: string, document: ModelDocument) => {
    await modelNames.claim('model', id, document);
    await switchLinks.setTargets('model', id, switchTargets(document.request_body_rules));
  };
  const linkBalancer = async (id: string, document: LoadBalancerDocument) => {
    await modelNames.claim('load balancer', id, document);
    await balancerLinks.setEntries(
      id,
      document.entries.map(({ model }) => model),
    );
  };
  const unlinkBalancer = async ({ id }: { id: string }) => {
    await balancerLinks.removePins({ balancerId: id });
    await modelNames.release([id]);
    await balancerLinks.setEntries(id, []);
  };
  return {
    revision,
    pricing: createWriter(db, dialect, pricingDefinition, context),
    alertChannels: createWriter(db, dialect, alertChannelDefinition, context),
    searchProviders: createWriter(db, dialect, searchProviderDefinition, context),
    searchConfig: createWriter(db, dialect, searchConfigDefinition, context),
    mcpServers: createWriter(db, dialect, mcpServerDefinition, context),
    upstreams: withDependents(createWriter(db, dialect, upstreamDefinition, context), {
      keep: (id, { request_body_rules }) => switchLinks.setTargets('upstream', id, switchTargets(request_body_rules)),
      drop: ({ id }) => switchLinks.setTargets('upstream', id, []),
    }),
    keyGroups: createWriter(db, dialect, keyGroupDefinition, context),
    accessKeys: withDependents(createWriter(db, dialect, accessKeyDefinition, context), {
      drop: ({ document }) => balancerLinks.removePins({ accessKey: document.name }),
    }),
    modelNames,
    ssoCredentials: createSsoCredentials(db, dialect, () => context.now),
    balancerLinks,
    switchLinks,
    changes: () => context.recorder.changes(),
    attempt: (work) => attempt(db, dialect, work),
    changesSince: (from) => changesBetween(db, from, revision - 1),
    models: withDependents(createWriter(db, dialect, modelDefinition, context), {
      keep: linkModel,
      async drop({ id }) {
        await switchLinks.setTargets('model', id, []);
        await modelNames.release([id]);
      },
    }),
    loadBalancers: withDependents(createWriter(db, dialect, loadBalancerDefinition, context), { keep: linkBalancer, drop: unlinkBalancer }),
  };
}

/** PostgreSQL accepts no further statements in a transaction after one that failed, unless it rolls back to a savepoint. */
async function attempt<T>(db: Kysely<Database>, dialect: StorageDialect, work: () => Promise<T>): Promise<T> {
  const run = (statement: string) => sql.raw(statement).execute(db);
  await run('savepoint attempt');
  try {
    const value = await work();
    await run('release savepoint attempt');
    return value;
  } catch (error) {
    await run('rollback to savepoint attempt');
    await run('release savepoint attempt');
    throw dialect.translateError(error);
  }
}

/** false: the database rejected the records, which does not undo the change; the caller keeps them elsewhere. A database that is away undoes both. */
async function keepRecords(db: Kysely<Database>, dialect: StorageDialect, rows: readonly AuditRow[]): Promise<boolean> {
  if (rows.length === 0) return false;
  return attempt(db, dialect, () => insertRecords(db, rows)).then(
    () => true,
    () => false,
  );
}

/** Dependent entries of a row (names, links): rewritten after it is written, and removed before it is deleted. */
interface Dependents<D> {
  keep?: (id: string, document: D) => Promise<void>;
  drop: (stored: StoredResource<D>) => Promise<void>;
}

/** A writer that also maintains the dependent entries of its rows. */
const withDependents = <D extends { name: string }>(writer: ResourceWriter<D>, { keep = async () => undefined, drop }: Dependents<D>): ResourceWriter<D> => ({
  ...writer,
  async insert(id, document) {
    const stored = await writer.insert(id, document);
    await keep(id, document);
    return stored;
  },
  async update(stored, document) {
    const updated = await writer.update(stored, document);
    await keep(stored.id, document);
    return updated;
  },
  async restore(row) {
    const known = await writer.find(row.document.name);
    // The entries of the row being replaced would conflict with those of the restored one.
    if (known && known.id !== row.id) await drop(known);
    const stored = await writer.restore(row);
    await keep(row.id, row.document);
    return stored;
  },
  async remove(stored) {
    await drop(stored);
    await writer.remove(stored);
  },
});

/** Outside a transaction, each call's errors are translated on their own. */
function translateReader(reader: CatalogReader, translate: <T>(work: () => Promise<T>) => Promise<T>): CatalogReader {
  const wrap = <D extends { name: string }>(repository: ResourceRepository<D>): ResourceRepository<D> => ({
    find: (name) => translate(() => repository.find(name)),
    list: (query) => translate(() => repository.list(query)),
    ids: (names) => translate(() => repository.ids(names)),
    named: (names) => translate(() => repository.named(names)),
    all: () => translate(() => repository.all()),
    withText: (field) => translate(() => repository.withText(field)),
    where: (column, value, limit) => translate(() => repository.where(column, value, limit)),
  });
  return {
    upstreams: wrap(reader.upstreams),
    models: wrap(reader.models),
    loadBalancers: wrap(reader.loadBalancers),
    balancerLinks: {
      balancersOf: (model, limit) => translate(() => reader.balancerLinks.balancersOf(model, limit)),
      pinsOn: (model, limit) => translate(() => reader.balancerLinks.pinsOn(model, limit)),
      findPin: (id, accessKey) => translate(() => reader.balancerLinks.findPin(id, accessKey)),
      listPins: (id, query) => translate(() => reader.balancerLinks.listPins(id, query)),
      allPins: () => translate(() => reader.balancerLinks.allPins()),
    },
    pricing: wrap(reader.pricing),
    alertChannels: wrap(reader.alertChannels),
    searchProviders: wrap(reader.searchProviders),
    searchConfig: wrap(reader.searchConfig),
    mcpServers: wrap(reader.mcpServers),
    switchLinks: { ownersOf: (target, limit) => translate(() => reader.switchLinks.ownersOf(target, limit)) },
    keyGroups: wrap(reader.keyGroups),
    accessKeys: wrap(reader.accessKeys),
    modelNames: {
      findTaken: (names, except) => translate(() => reader.modelNames.findTaken(names, except)),
      search: (text, limit) => translate(() => reader.modelNames.search(text, limit)),
    },
  };
}

async function readState(db: Kysely<Database>): Promise<CatalogState> {
  const { revision, occurred_at } = await db
    .selectFrom('catalog_revision')
    .leftJoin('catalog_history', 'catalog_history.revision', 'catalog_revision.revision')
    .select(['catalog_revision.revision', 'catalog_history.occurred_at'])
    .where('catalog_revision.id', '=', 1)
    .executeTakeFirstOrThrow();
  return { revision, ...(occurred_at !== null && { committedAt: occurred_at }) };
}

/** The first statement of every write: it takes the row's lock, so that writers follow one another. */
async function moveRevision(db: Kysely<Database>): Promise<number> {
  const moved = await db
    .updateTable('catalog_revision')
    .set({ revision: sql<number>`revision + 1` })
    .where('id', '=', 1)
    .returning('revision')
    .executeTakeFirstOrThrow();
  return moved.revision;
}

async function loadRows(db: Kysely<Database>, dialect: StorageDialect): Promise<CatalogRows> {
  const reader = createReader(db, dialect);
  const { revision, committedAt } = await readState(db);
  const upstreams = await reader.upstreams.all();
  const models = await reader.models.all();
  const loadBalancers = await reader.loadBalancers.all();
  const pins = await reader.balancerLinks.allPins();
  const pricing = await reader.pricing.all();
  const mcpServers = await reader.mcpServers.all();
  const searchProviders = await reader.searchProviders.all();
  const searchConfig = await reader.searchConfig.all();
  const keyGroups = await reader.keyGroups.all();
  const accessKeys = await reader.accessKeys.all();
  return {
    revision,
    committed_at: committedAt,
    upstreams: upstreams.map(upstreamRow),
    models: models.map(modelRow),
    load_balancers: loadBalancers.map(balancerRow),
    load_balancer_pins: pins,
    pricing: pricing.map(pricingRow),
    search_providers: searchProviders.map(searchProviderRow),
    search_config: searchConfig.map(searchConfigRow),
    mcp_servers: mcpServers.map(mcpServerRow),
    key_groups: keyGroups.map(groupRow),
    access_keys: accessKeys.map(keyRow),
  };
}
