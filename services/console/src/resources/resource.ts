/** What the kinds of configuration resources have in common, and where they differ. */
import type { AuditEntityType } from '@model-gateway/contracts';
import type { CatalogReader, CatalogWriter, ListQuery, ResourceRepository, StoredResource } from '@model-gateway/storage';
import type { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import type { Detail } from '../problem.ts';
import type { ExportSeal } from './export-seal.ts';

export type ResourcePath =
  | 'upstreams'
  | 'models'
  | 'load-balancers'
  | 'key-groups'
  | 'access-keys'
  | 'pricing'
  | 'search-providers'
  | 'search-config'
  | 'alert-channels'
  | 'mcp-servers';

/** How a resource is given out: `etag` goes into the header, and into the body of lists. */
export interface Reply {
  body: Record<string, unknown>;
  etag: number;
}

/** What building a stored document needs besides the input. */
export interface BuildContext<D> {
  /** The row's id, also of one that is being created. */
  id: string;
  existing: StoredResource<D> | null;
  writer: CatalogWriter;
  context: ConsoleContext;
  /** Import may give other values of keys than those that are stored. */
  mayReplaceKey: boolean;
  /** Path of the resource inside the body. */
  prefix: string;
}

/** What looking at links needs besides the document. */
export interface LinkContext<D> {
  reader: CatalogReader;
  /** Path of the resource inside the body. */
  prefix: string;
  /** What the document took the place of; null: it is new. */
  before: D | null;
  context: ConsoleContext;
}

/** Reads and writes documents of one kind inside a transaction. */
export interface ResourceWriterOf<D extends { name: string }> extends ResourceRepository<D> {
  insert(id: string, document: D): Promise<StoredResource<D>>;
  update(stored: StoredResource<D>, document: D): Promise<StoredResource<D>>;
  remove(stored: StoredResource<D>): Promise<void>;
}

/** `D` is stored, `I` is what the schema gives. */
export interface Resource<D extends { name: string }, I extends { name: string }> {
  path: ResourcePath;
  /** One of them, in messages. */
  noun: string;
  /** The same in the audit log. */
  entityType: AuditEntityType;
  sortable: readonly string[];
  /** Filters of its list: as the API names them → column. */
  filters?: Readonly<Record<string, keyof NonNullable<ListQuery['equal']>>>;
  /** Its list can be narrowed by tags. */
  tagged?: true;
  schema: z.ZodType<I>;
  /** The same schema for partial bodies, in the API's document. */
  partial: z.ZodType;
  /** The same as replies show it, without what all replies have. */
  answer: z.ZodObject;
  reader(reader: CatalogReader): ResourceRepository<D>;
  writer(writer: CatalogWriter): ResourceWriterOf<D>;
  /** The stored resource as an admin would send it, secrets left out: what a body is merged into. */
  toInput(document: D): Record<string, unknown>;
  /** A body for a stored resource without the masks that replies showed: what is absent stays. Absent where the schema takes masks. */
  dropMasks?(fields: Record<string, unknown>): Record<string, unknown>;
  /** Lists that hold secrets, as they stay when a whole resource is given without them: keys, headers that carry a credential. */
  keptSecrets?(document: D): Record<string, unknown>;
  /** As it is shown: secrets masked. `kept`: which row it is, where what tells its secrets apart is shown too; history shows none of it. */
  toReply(document: D, kept?: { id: string; context: ConsoleContext }): Record<string, unknown>;
  /** Fills what a body may leave out because the rest of it tells. */
  fill?(fields: Record<string, unknown>): Record<string, unknown>;
  /** Adds to replies what no row of the configuration holds. Outside of transactions alone. */
  complete?(bodies: readonly Record<string, unknown>[], context: ConsoleContext): Promise<Record<string, unknown>[]>;
  /** What stands behind the masks of each field, to tell whether it changed; never shown. */
  secrets?(document: D): Record<string, unknown>;
  /** A reply without what neither records of the past nor those who only look on should hold. */
  conceal?(shown: Record<string, unknown>): Record<string, unknown>;
  /** Faults that the schema cannot find and no other row decides. */
  check(input: I, context: ConsoleContext): Detail[];
  /** Checks what depends on other rows, seals secrets. `shown` is added to the reply of a creation, once. */
  build(input: I, context: BuildContext<D>): Promise<{ document: D; shown?: Record<string, unknown> }>;
  /** Throws 422 when what was written does not go with other rows; asked at the end, since one import may write both. */
  checkLinks?(document: D, links: LinkContext<D>): Promise<void>;
  /** Throws `in_use` when something refers to it. */
  checkRemoval(stored: StoredResource<D>, reader: CatalogReader): Promise<void>;
  /** As it is exported: secrets sealed for export. */
  toExport(stored: StoredResource<D>, seal: ExportSeal): Record<string, unknown>;
}
