/** Pins of a load balancer: access key → entry. */
import { modelName, resourceName } from '@model-gateway/contracts';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { type Call, commit } from '../history/commit.ts';
import { invalidField, Problem } from '../problem.ts';
import { findBalancer, type Outcome, putPin } from '../resources/pins.ts';
import { readInput } from '../validation/read-input.ts';
import { pageOf } from './answers/common.ts';
import { pin } from './answers/routing.ts';
import { listQuery, toListQuery } from './list-query.ts';
import { base, parameter, type Route } from './route.ts';

const pinSchema = z.strictObject({ access_key: resourceName, entry: modelName });
/** Of replies as well: the key of the address, where it is sent back. */
const entrySchema = pinSchema.partial({ access_key: true });

/** What the routes of pins do. */
function createPinActions(context: ConsoleContext) {
  const { catalog } = context.storage;
  const entityOf = (request: Request, accessKey: string) =>
    ({ entity_type: 'lb_static_binding_pin', entity_id: `${parameter(request, 'name')}/${accessKey}` }) as const;
  const putOne = async ({ request, response }: Call, accessKey: string, entry: string) => {
    const load_balancer = parameter(request, 'name');
    const pin = { load_balancer, access_key: accessKey, entry };
    const action = (outcome: Outcome) => (outcome === 'created' ? 'create' : 'update');
    await commit(context, { request, response }, { action, ...entityOf(request, accessKey) }, async (writer) => {
      await findBalancer(writer, load_balancer);
      return putPin(writer, pin);
    });
    response.json({ access_key: accessKey, entry });
  };

  const list = async (request: Request, response: Response) => {
    const query = readInput(listQuery, request.query);
    const { id } = await findBalancer(catalog, parameter(request, 'name'));
    const { items, total } = await catalog.balancerLinks.listPins(id, toListQuery(query, ['access_key', 'entry']));
    response.json({ items: items.map(({ access_key, entry }) => ({ access_key, entry })), total, page: query.page, page_size: query.page_size });
  };
  const create = async (request: Request, response: Response) => {
    const { access_key, entry } = readInput(pinSchema, request.body);
    const load_balancer = parameter(request, 'name');
    await commit(context, { request, response }, { action: 'create', ...entityOf(request, access_key) }, async (writer) => {
      const { id } = await findBalancer(writer, load_balancer);
      if (await writer.balancerLinks.findPin(id, access_key))
        throw new Problem('conflict', 'This access key is pinned already.', [{ field: 'access_key', message: 'is pinned already' }]);
      return putPin(writer, { load_balancer, access_key, entry });
    });
    response.status(201).json({ access_key, entry });
  };
  const put = async (request: Request, response: Response) => {
    const { access_key, entry } = readInput(pinSchema, request.body);
    await putOne({ request, response }, access_key, entry);
  };
  const read = async (request: Request, response: Response) => {
    const { id } = await findBalancer(catalog, parameter(request, 'name'));
    const pin = await catalog.balancerLinks.findPin(id, parameter(request, 'access_key'));
    if (!pin) throw new Problem('not_found', 'This access key is not pinned.');
    response.json({ access_key: pin.access_key, entry: pin.entry });
  };
  const putOfKey = async (request: Request, response: Response) => {
    const { access_key, entry } = readInput(entrySchema, request.body);
    const pinned = parameter(request, 'access_key');
    if (access_key !== undefined && access_key !== pinned) throw invalidField('access_key', 'differs from the key in the address: pin it at its own address');
    await putOne({ request, response }, pinned, entry);
  };
  const remove = async (request: Request, response: Response) => {
    const accessKey = parameter(request, 'access_key');
    await commit(context, { request, response }, { action: 'delete', ...entityOf(request, accessKey) }, async (writer) => {
      const { id } = await findBalancer(writer, parameter(request, 'name'));
      if (!(await writer.balancerLinks.removePin(id, accessKey))) throw new Problem('not_found', 'This access key is not pinned.');
    });
    response.status(204).end();
  };

  return { list, create, put, read, putOfKey, remove };
}

/** The routes under a load balancer's `/pins`. */
export function pinRoutes(context: ConsoleContext): Route[] {
  const { list, create, put, read, putOfKey, remove } = createPinActions(context);
  const all = `${base}/load-balancers/{name}/pins`;
  const one = `${all}/{access_key}`;
  const tag = 'load-balancers';
  return [
    {
      method: 'get',
      path: all,
      operationId: 'list_load_balancer_pins',
      summary: 'Access keys that are pinned to an entry',
      tag,
      query: listQuery,
      status: 200,
      answer: pageOf(pin),
      failures: [404],
      handle: list,
    },
    {
      method: 'post',
      path: all,
      operationId: 'create_load_balancer_pin',
      summary: 'Pin an access key that is not pinned yet',
      tag,
      body: pinSchema,
      status: 201,
      answer: pin,
      failures: [404, 409],
      handle: create,
    },
    {
      method: 'put',
      path: all,
      operationId: 'put_load_balancer_pin',
      summary: 'Pin an access key to an entry',
      tag,
      body: pinSchema,
      status: 200,
      answer: pin,
      failures: [404],
      handle: put,
    },
    {
      method: 'get',
      path: one,
      operationId: 'read_load_balancer_pin',
      summary: 'The entry an access key is pinned to',
      tag,
      status: 200,
      answer: pin,
      failures: [404],
      handle: read,
    },
    {
      method: 'put',
      path: one,
      operationId: 'put_load_balancer_pin_of_key',
      summary: 'Pin this access key to an entry',
      tag,
      body: entrySchema,
      status: 200,
      answer: pin,
      failures: [404],
      handle: putOfKey,
    },
    {
      method: 'delete',
      path: one,
      operationId: 'delete_load_balancer_pin',
      summary: 'Unpin this access key',
      tag,
      status: 204,
      failures: [404],
      handle: remove,
    },
  ];
}
