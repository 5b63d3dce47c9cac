/** The verbs of a resource, the same for all kinds: each runs inside one transaction that its caller opened. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { AuditEntityType } from '@model-gateway/contracts';
import type { CatalogReader, CatalogWriter, ListQuery, StoredResource } from '@model-gateway/storage';
import { z } from 'zod';
import { stored as storedFields } from '../api/answers/common.ts';
import { isoTime } from '../api/answers/iso-time.ts';
import { withState } from '../api/answers/state.ts';
import type { ConsoleContext } from '../context.ts';
import { addStates, hasState } from '../health/add-states.ts';
import { invalid, invalidField, Problem } from '../problem.ts';
import { checkNewName } from '../validation/new-name.ts';
import { joinPath, readInput } from '../validation/read-input.ts';
import { spellScripts } from '../validation/scripts.ts';
import { spellFields } from '../validation/spellings.ts';
import { etagMatches, etagOf, type Precondition } from './etag.ts';
import { createExportSeal } from './export-seal.ts';
import { inheritedFaults, withoutNulls } from './inherited-faults.ts';
import type { Reply, Resource, ResourcePath } from './resource.ts';

type Body = Readonly<Record<string, unknown>>;

/** The operations on one kind of resource, with types erased for routes, batches and imports. */
export interface ResourceOperations {
  path: ResourcePath;
  noun: string;
  entityType: AuditEntityType;
  sortable: readonly string[];
  filters: NonNullable<Resource<{ name: string }, { name: string }>['filters']>;
  tagged: boolean;
  schema: z.ZodType;
  partial: z.ZodType;
  answer: z.ZodType;
  list(reader: CatalogReader, query: ListQuery): Promise<{ items: Reply[]; total: number }>;
  read(reader: CatalogReader, name: string): Promise<Reply>;
  /** A reply for those who may not change it: without values that may be credentials. */
  conceal(reply: Reply): Reply;
  /** Adds what no row of the configuration holds. Outside of transactions alone. */
  complete(replies: readonly Reply[]): Promise<Reply[]>;
  /** The same for a change that was committed: it has succeeded, also where statistics cannot be read, and then has no state. */
  completeCommitted(reply: Reply): Promise<Reply>;
  create(writer: CatalogWriter, body: unknown): Promise<Reply>;
  /** Merges: absent stays, null resets. */
  update(writer: CatalogWriter, name: string, body: unknown, precondition: Precondition): Promise<Reply>;
  remove(writer: CatalogWriter, name: string, precondition: Precondition): Promise<void>;
  /** Import: the body is the whole resource (absent is the default), except that secrets left out stay. */
  put(writer: CatalogWriter, body: unknown, prefix: string): Promise<'created' | 'updated' | 'unchanged'>;
  /** What is left to check of a resource that was `put`, once everything is there that it may refer to. */
  checkLinks(reader: CatalogReader, name: string, put: { prefix: string; before: { name: string } | null }): Promise<void>;
  /** `onLost`: called for each secret that does not open, with its row and the reason; a mask is exported in its place. */
  exportAll(reader: CatalogReader, onLost: (name: string, reason: string) => void): Promise<Record<string, unknown>[]>;
}

/** Fields of replies that are not the client's to set: sent back with a whole object they mean nothing. */
const readOnly = new Set(['id', 'created_at', 'updated_at', 'last_used_at', 'previous_valid_until', 'state', 'unavailable']);

/** What the operations of one kind of resource have in common. */
function createHelpers<D extends { name: string }, I extends { name: string }>(resource: Resource<D, I>, context: ConsoleContext) {
  // A row may be older than some fields: it is shown with what they mean where they are absent.
  const defaults = defaultsOf(resource.answer);
  const show = ({ id, document }: StoredResource<D>): Record<string, unknown> => {
    const shown = resource.toReply(document, { id, context });
    for (const [field, value] of defaults) if (!Object.hasOwn(shown, field)) shown[field] = value;
    return shown;
  };
  const toReply = (stored: StoredResource<D>): Reply => ({
    etag: stored.etag,
    body: {
      id: stored.id,
      ...show(stored),
      etag: String(stored.etag),
      created_at: isoTime(stored.createdAt),
      updated_at: isoTime(stored.updatedAt),
    },
  });
  const findOrThrow = async (reader: CatalogReader, name: string) => {
    const stored = await resource.reader(reader).find(name);
    if (!stored) throw new Problem('not_found', `There is no ${resource.noun} of this name.`);
    return stored;
  };
  const fill = (fields: Record<string, unknown>) => resource.fill?.(fields) ?? fields;
  const dropMasks = (fields: Record<string, unknown>) => resource.dropMasks?.(fields) ?? fields;
  /** `existing`: what an earlier version stored and nobody changes now is no reason to refuse a change of the rest. */
  const parse = (body: Body, prefix: string, existing?: D): I => {
    const input = readInput(resource.schema, body, prefix);
    const found = [...(existing ? [] : checkNewName(input.name)), ...resource.check(input, context)];
    const inherited = existing && found.length > 0 ? inheritedFaults(resource, { existing, input }, context) : null;
    const faults = inherited ? found.filter((fault) => !inherited(fault)) : found;
    if (faults.length > 0) throw invalid(faults.map(({ field, message }) => ({ field: joinPath(prefix, field), message })));
    return input;
  };
  return { toReply, findOrThrow, fill, dropMasks, parse };
}

type Helpers<D extends { name: string }, I extends { name: string }> = ReturnType<typeof createHelpers<D, I>>;

/** The operations that change a resource. */
function writeOperations<D extends { name: string }, I extends { name: string }>(
  resource: Resource<D, I>,
  context: ConsoleContext,
  { toReply, findOrThrow, fill, dropMasks, parse }: Helpers<D, I>,
): Pick<ResourceOperations, 'create' | 'update' | 'remove' | 'put'> {
  return {
    async create(writer, body) {
      const { fields } = readBody(resource.path, body, '');
      const input = parse(fill(withoutNulls(fields)), '');
      if (await resource.writer(writer).find(input.name)) throw taken(resource.noun);
      const id = randomUUID();
      const { document, shown } = await resource.build(input, { id, existing: null, writer, context, mayReplaceKey: true, prefix: '' });
      const reply = toReply(await resource.writer(writer).insert(id, document));
      await resource.checkLinks?.(document, { reader: writer, prefix: '', before: null, context });
      return { ...reply, body: { ...reply.body, ...shown } };
    },
    async update(writer, name, body, precondition) {
      const stored = await findOrThrow(writer, name);
      const { fields, etag } = readBody(resource.path, body, '', resource.toInput(stored.document));
      etagMatches(stored.etag, precondition);
      etagMatches(stored.etag, etag);
      if (Object.hasOwn(fields, 'name') && fields['name'] !== name) throw invalidField('name', 'cannot be changed: other rows and clients refer to it');
      const input = parse(withoutNulls({ ...resource.toInput(stored.document), ...dropMasks(fields) }), '', stored.document);
      const { document } = await resource.build(input, { id: stored.id, existing: stored, writer, context, mayReplaceKey: false, prefix: '' });
      // What says nothing new leaves no trace: its revision and its tag stay.
      if (isDeepStrictEqual(document, stored.document)) return toReply(stored);
      const updated = await resource.writer(writer).update(stored, document);
      await resource.checkLinks?.(document, { reader: writer, prefix: '', before: stored.document, context });
      return toReply(updated);
    },
    async remove(writer, name, precondition) {
      const stored = await findOrThrow(writer, name);
      etagMatches(stored.etag, precondition);
      await resource.checkRemoval(stored, writer);
      await resource.writer(writer).remove(stored);
    },
    async put(writer, body, prefix) {
      const { fields } = readBody(resource.path, body, prefix);
      const { name } = fields;
      const existing = typeof name === 'string' ? await resource.writer(writer).find(name) : null;
      const kept = existing ? { ...resource.keptSecrets?.(existing.document), ...dropMasks(fields) } : fields;
      const input = parse(withoutNulls(kept), prefix, existing?.document);
      const id = existing?.id ?? randomUUID();
      const { document } = await resource.build(input, { id, existing, writer, context, mayReplaceKey: true, prefix });
      if (!existing) {
        await resource.writer(writer).insert(id, document);
        return 'created';
      }
      if (isDeepStrictEqual(document, existing.document)) return 'unchanged';
      await resource.writer(writer).update(existing, document);
      return 'updated';
    },
  };
}

/** The operations on one kind of resource. */
export function createOperations<D extends { name: string }, I extends { name: string }>(
  resource: Resource<D, I>,
  context: ConsoleContext,
): ResourceOperations {
  const helpers = createHelpers(resource, context);
  const { toReply, findOrThrow } = helpers;
  const complete = async (replies: readonly Reply[]): Promise<Reply[]> => {
    const plain = replies.map(({ body }) => body);
    const bodies = await addStates(resource.path, resource.complete ? await resource.complete(plain, context) : plain, context);
    return replies.map((reply, index) => ({ ...reply, body: bodies[index] ?? reply.body }));
  };
  return {
    path: resource.path,
    noun: resource.noun,
    entityType: resource.entityType,
    sortable: resource.sortable,
    filters: resource.filters ?? {},
    tagged: resource.tagged ?? false,
    schema: resource.schema,
    partial: resource.partial,
    answer: z.strictObject({ ...storedFields, ...resource.answer.shape, ...(hasState(resource.path) && withState) }),
    async list(reader, query) {
      const { items, total } = await resource.reader(reader).list(query);
      return { items: items.map(toReply), total };
    },
    read: async (reader, name) => toReply(await findOrThrow(reader, name)),
    conceal: (reply) => (resource.conceal ? { ...reply, body: resource.conceal(reply.body) } : reply),
    complete,
    async completeCommitted(reply) {
      try {
        const [shown = reply] = await complete([reply]);
        return shown;
      } catch (error) {
        context.logger.warn({ error }, 'a change was made; its answer says no state, for statistics cannot be read');
        return reply;
      }
    },
    ...writeOperations(resource, context, helpers),
    async checkLinks(reader, name, { prefix, before }) {
      const stored = resource.checkLinks && (await resource.reader(reader).find(name));
      if (stored) await resource.checkLinks?.(stored.document, { reader, prefix, before: before as D | null, context });
    },
    exportAll: async (reader, onLost) =>
      (await resource.reader(reader).all()).map((stored) =>
        resource.toExport(
          stored,
          createExportSeal(context.keyring, (reason) => onLost(stored.document.name, reason)),
        ),
      ),
  };
}

/** What each field is where nobody said anything of it. */
const defaultsOf = ({ shape }: z.ZodObject): [string, unknown][] =>
  Object.entries(shape).flatMap(([field, schema]): [string, unknown][] => {
    const { success, data } = z.safeParse(schema, undefined);
    return success && data !== undefined ? [[field, data]] : [];
  });

export const taken = (noun: string): Problem =>
  new Problem('conflict', `There is already ${/^(?:[aeiou]|MCP)/.test(noun) ? 'an' : 'a'} ${noun} of this name.`, [{ field: 'name', message: 'is taken' }]);

/** Checks the outer shape, brings fields to the schema's spelling, and takes out what is only read. `stored`: what the body is merged into. */
function readBody(path: ResourcePath, body: unknown, prefix: string, stored?: Body): { fields: Record<string, unknown>; etag: Precondition } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalidField(prefix || 'body', 'must be an object');
  const named = spellFields(path, body as Body);
  const spelled = path === 'upstreams' || path === 'models' ? spellScripts(named.fields, stored) : { fields: named.fields, refused: [] };
  const refused = [...named.refused, ...spelled.refused];
  if (refused.length > 0) throw invalid(refused.map(({ field, message }) => ({ field: joinPath(prefix, field), message })));
  const fields = Object.fromEntries(Object.entries(spelled.fields).filter(([field]) => !readOnly.has(field) && field !== 'etag'));
  return { fields, etag: etagOf(spelled.fields, joinPath(prefix, 'etag')) };
}
