/** Staged edits of several resources, committed together: all of them or none. */
import type { CatalogWriter } from '@model-gateway/storage';
import { z } from 'zod';
import { toProblem } from '../http/answer-error.ts';
import { type Detail, Problem } from '../problem.ts';
import type { Precondition } from '../resources/etag.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import { storedName } from '../validation/stored-name.ts';

const etag = z.string().max(200).optional();
const name = storedName.min(1).max(200);
const body = z.record(z.string(), z.json());
const entrySchema = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('create'), resource: z.string().max(64), body }),
  z.strictObject({ action: z.literal('update'), resource: z.string().max(64), name, etag, body }),
  z.strictObject({ action: z.literal('delete'), resource: z.string().max(64), name, etag }),
]);
export const batchSchema = z.strictObject({ entries: z.array(entrySchema).min(1).max(1_000) });
type Entry = z.output<typeof entrySchema>;

/** The result of one entry of a batch. */
export interface BatchResult {
  action: Entry['action'];
  resource: string;
  name: string;
  /** As the same edit would be answered by itself. */
  status: 200 | 201 | 204;
  etag: string | null;
  body: Record<string, unknown> | null;
}

/** What is to be done in one transaction; throws the problem of the first entry that cannot be done, its fields prefixed with `entries.<index>`. */
export const prepareBatch =
  (entries: readonly Entry[], resources: readonly ResourceOperations[]) =>
  async (writer: CatalogWriter): Promise<BatchResult[]> => {
    const results: BatchResult[] = [];
    for (const [index, entry] of entries.entries()) {
      try {
        results.push(await apply(entry, writer, resources));
      } catch (error) {
        throw placed(error, `entries.${index}`);
      }
    }
    return results;
  };

async function apply(entry: Entry, writer: CatalogWriter, resources: readonly ResourceOperations[]): Promise<BatchResult> {
  const resource = resources.find(({ path }) => path === entry.resource);
  if (!resource)
    throw new Problem('validation_failed', 'There is no such resource.', [
      { field: 'resource', message: `is not one of ${resources.map(({ path }) => path).join(', ')}` },
    ]);
  const said = { action: entry.action, resource: entry.resource };
  if (entry.action === 'delete') {
    await resource.remove(writer, entry.name, entry.etag);
    return { ...said, name: entry.name, status: 204, etag: null, body: null };
  }
  const precondition: Precondition = entry.action === 'update' ? entry.etag : undefined;
  const reply = entry.action === 'create' ? await resource.create(writer, entry.body) : await resource.update(writer, entry.name, entry.body, precondition);
  return { ...said, name: String(reply.body['name']), status: entry.action === 'create' ? 201 : 200, etag: String(reply.etag), body: reply.body };
}

/** The same problem with the entry's path put before its fields. Errors that are no `Problem` are returned as they are. */
function placed(error: unknown, place: string): unknown {
  const problem = toProblem(error);
  if (!problem) return error;
  const details = problem.details?.map(({ field, message }): Detail => ({ field: `${place}.${field}`, message })) ?? [
    { field: place, message: problem.message },
  ];
  return new Problem(problem.code, `${place}: ${problem.message}`, details, problem.status);
}
