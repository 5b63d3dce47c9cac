/** The one search configuration: it is read and changed, never created or deleted. */
import { isObject, searchConfigName, searchConfigSchema } from '@model-gateway/contracts';
import type { CatalogWriter, RowChange } from '@model-gateway/storage';
import type { Request, Response } from 'express';
import type { ConsoleContext } from '../context.ts';
import { commit } from '../history/commit.ts';
import { describeChange } from '../history/describe-change.ts';
import { etagMatches, etagOf, formatEtag, type Precondition } from '../resources/etag.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import type { Reply } from '../resources/resource.ts';
import { text } from './answers/common.ts';
import { base, type Route } from './route.ts';

const answerSchema = searchConfigSchema.omit({ name: true }).extend({ etag: text });

/** What holds until somebody changes it. */
const unset: Reply = { etag: 0, body: { ...searchConfigSchema.parse({}), etag: '0' } };

/** The first change creates the row. */
async function change(operations: ResourceOperations, writer: CatalogWriter, body: unknown, precondition: Precondition): Promise<Reply> {
  if (await writer.searchConfig.find(searchConfigName)) return operations.update(writer, searchConfigName, body, precondition);
  if (!isObject(body)) return operations.create(writer, body);
  etagMatches(unset.etag, precondition);
  etagMatches(unset.etag, etagOf(body));
  return operations.create(writer, { name: searchConfigName, ...body });
}

/** The fields that a change changed; the first one is compared with the defaults that held before it. */
function diffOf({ changes: [change] }: { changes: readonly RowChange[] }): Record<string, unknown> | undefined {
  if (!change) return undefined;
  const { fields } = describeChange(change);
  if (change.before) return fields;
  const defaults = Object.entries(unset.body).filter(([field, before]) => field in fields && before !== fields[field]?.after);
  return Object.fromEntries(defaults.map(([field, before]) => [field, { before, after: fields[field]?.after }]));
}

export function searchConfigRoutes(operations: ResourceOperations, context: ConsoleContext): Route[] {
  const { catalog } = context.storage;
  const path = `${base}/search-config`;
  const answer = (response: Response, { body, etag }: Reply) => {
    const { id: _id, name: _name, created_at: _created, updated_at: _updated, ...shown } = body;
    response.set('ETag', formatEtag(etag)).json(shown);
  };
  const update = async (request: Request, response: Response) => {
    const purpose = { action: 'update', entity_type: 'search_config', entity_id: searchConfigName, diff: diffOf } as const;
    const { value } = await commit(context, { request, response }, purpose, (writer) => change(operations, writer, request.body, request.get('if-match')));
    answer(response, value);
  };
  const read: Route = {
    method: 'get',
    path,
    operationId: 'read_search_config',
    summary: 'Read the bounds of searching and fetching for models, and the provider that is asked',
    tag: 'search-config',
    status: 200,
    answer: answerSchema,
    async handle(_request, response) {
      const isSet = (await catalog.searchConfig.find(searchConfigName)) !== null;
      answer(response, isSet ? await operations.read(catalog, searchConfigName) : unset);
    },
  };
  return [
    read,
    ...(['put', 'patch'] as const).map(
      (method): Route => ({
        method,
        path,
        operationId: `${method}_search_config`,
        summary: 'Change the search configuration (merge: a field that is not sent stays, null resets it to its default)',
        tag: 'search-config',
        body: operations.partial,
        conditional: true,
        status: 200,
        answer: answerSchema,
        failures: [412],
        handle: update,
      }),
    ),
  ];
}
