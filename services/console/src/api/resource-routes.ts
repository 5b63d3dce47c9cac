/** The six routes that every kind of resource has. */
import type { CatalogWriter } from '@model-gateway/storage';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { type Call, commit, type Purpose } from '../history/commit.ts';
import { formatEtag } from '../resources/etag.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import type { Reply } from '../resources/resource.ts';
import { actorOf } from '../sign-in/actor.ts';
import { readInput } from '../validation/read-input.ts';
import { pageOf } from './answers/common.ts';
import { listQuery, maybeText, tagQuery, toListQuery } from './list-query.ts';
import { base, parameter, type Route } from './route.ts';

/** As operation ids spell the resource. */
const idOf = ({ path }: ResourceOperations): string => path.replaceAll('-', '_');

const shownTo = (response: Response, resource: ResourceOperations, reply: Reply): Reply =>
  actorOf(response).role === 'admin' ? reply : resource.conceal(reply);

/** The routes of one kind of resource. */
export function resourceRoutes(resource: ResourceOperations, context: ConsoleContext): Route[] {
  const { path, entityType } = resource;
  const all = `${base}/${path}`;
  const one = `${all}/{name}`;
  const { catalog } = context.storage;
  const id = idOf(resource);
  const tag = path;

  const send = (response: Response, status: number, { body, etag }: Reply) => response.status(status).set('ETag', formatEtag(etag)).json(body);
  const answer = async (response: Response, status: number, reply: Reply) => send(response, status, await resource.completeCommitted(reply));
  const change = <T>(call: Call, action: 'create' | 'update' | 'delete', entity_id: Purpose<T>['entity_id'], work: (writer: CatalogWriter) => Promise<T>) =>
    commit(context, call, { action, entity_type: entityType, entity_id }, work);
  const update = async (request: Request, response: Response) => {
    const name = parameter(request, 'name');
    const { value } = await change({ request, response }, 'update', name, (writer) => resource.update(writer, name, request.body, request.get('if-match')));
    await answer(response, 200, value);
  };
  const merges = 'merge: a field that is not sent stays, null resets it to its default, masked or absent secrets stay';

  return [
    listRoute(resource, context),
    {
      method: 'post',
      path: all,
      operationId: `create_${id}`,
      summary: `Create one`,
      tag,
      body: resource.schema,
      status: 201,
      answer: resource.answer,
      failures: [409],
      async handle(request, response) {
        const nameOf = ({ body }: Reply) => String(body['name']);
        const { value } = await change({ request, response }, 'create', nameOf, (writer) => resource.create(writer, request.body));
        await answer(response, 201, value);
      },
    },
    {
      method: 'get',
      path: one,
      operationId: `read_${id}`,
      summary: 'Read one',
      tag,
      status: 200,
      answer: resource.answer,
      failures: [404],
      async handle(request, response) {
        const [shown] = await resource.complete([await resource.read(catalog, parameter(request, 'name'))]);
        if (shown) send(response, 200, shownTo(response, resource, shown));
      },
    },
    ...(['put', 'patch'] as const).map(
      (method): Route => ({
        method,
        path: one,
        operationId: `${method}_${id}`,
        summary: `Change one (${merges})`,
        tag,
        body: resource.partial,
        conditional: true,
        status: 200,
        answer: resource.answer,
        failures: [404, 409, 412],
        handle: update,
      }),
    ),
    {
      method: 'delete',
      path: one,
      operationId: `delete_${id}`,
      summary: 'Delete one',
      tag,
      conditional: true,
      status: 204,
      failures: [404, 412],
      async handle(request, response) {
        const name = parameter(request, 'name');
        await change({ request, response }, 'delete', name, (writer) => resource.remove(writer, name, request.get('if-match')));
        response.status(204).end();
      },
    },
  ];
}

/** The list, filtered by what this kind of resource is filtered by. */
function listRoute(resource: ResourceOperations, context: ConsoleContext): Route {
  const { path } = resource;
  const filterNames = Object.keys(resource.filters);
  const filtered = listQuery.extend({
    ...Object.fromEntries(filterNames.map((name) => [name, maybeText(200)])),
    ...(resource.tagged && { tags: tagQuery }),
  });
  return {
    method: 'get',
    path: `${base}/${path}`,
    operationId: `list_${idOf(resource)}`,
    summary: `List ${path}`,
    tag: path,
    query: filtered,
    status: 200,
    answer: pageOf(resource.answer),
    async handle(request, response) {
      const query = readInput(filtered, request.query) as z.output<typeof listQuery> & { tags?: string[] } & Record<string, string | undefined>;
      const equal = Object.fromEntries(filterNames.flatMap((name) => (query[name] === undefined ? [] : [[resource.filters[name], query[name]]])));
      const { items, total } = await resource.list(context.storage.catalog, { ...toListQuery(query, resource.sortable), equal, tags: query.tags ?? [] });
      const shown = await resource.complete(items);
      response.json({ items: shown.map((reply) => shownTo(response, resource, reply).body), total, page: query.page, page_size: query.page_size });
    },
  };
}
