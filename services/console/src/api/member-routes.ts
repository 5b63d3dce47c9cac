/** What everybody who is signed in may do with the own keys. Nothing here takes the name of a person: the keys are those of the signed-in person. */
import { sealedAs } from '@model-gateway/contracts';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { actorNameOf, auditOf } from '../audit/audit-of.ts';
import type { ConsoleContext } from '../context.ts';
import { type Call, commit } from '../history/commit.ts';
import { readGroups, readOwnCosts, showKeys, showOwnRow, spentOf } from '../members/member-views.ts';
import { memberKeyBody, newMemberKey } from '../members/new-key.ts';
import { ownKey, ownKeys, type Person, personOf } from '../members/person.ts';
import { Problem } from '../problem.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import { readInput } from '../validation/read-input.ts';
import { rotateBody, rotateKey } from './access-key-routes.ts';
import { copiedKey } from './answers/configuration.ts';
import { isoTime } from './answers/iso-time.ts';
import { myCosts, myGroups, myKey, myKeys, myRequests } from './answers/members.ts';
import { clocksApartMs, cursorPage, dayMs, instant, sizeOf, toRange } from './instant.ts';
import { maybeText } from './list-query.ts';
import { base, parameter, type Route } from './route.ts';

const tag = 'my';
const all = `${base}/my/keys`;
const one = `${all}/{name}`;

/** A member switches a key off, which is always safe; on again does who may change anything. */
const changeBody = z.strictObject({
  enabled: z.literal(false, 'can be set to false alone: ask an administrator to enable it').optional(),
  description: z.string().max(2000).optional(),
});
const requestQuery = z.strictObject({ key: maybeText(200), from: instant, to: instant, ...cursorPage(200) });
const costQuery = z.strictObject({ from: instant, to: instant });
const costRangeMs = 30 * dayMs;

function createActions(accessKeys: ResourceOperations, context: ConsoleContext) {
  const { storage } = context;
  const who = (response: Response): Promise<Person> => personOf(response, context);
  /** As it is now, beside a value that is shown once. */
  const answer = async (response: Response, status: number, name: string, shown: object = {}) => {
    const person = await who(response);
    const [key] = await showKeys([await ownKey(storage.catalog, person, name)], context);
    response.status(status).json({ ...key, ...shown });
  };

  const create = async (request: Request, response: Response) => {
    const person = await who(response);
    const wanted = readInput(newMemberKey, request.body);
    const name = `${person.username}.${wanted.name}`;
    const { value } = await commit(context, { request, response }, { action: 'create', entity_type: 'access_key', entity_id: name }, async (writer) =>
      accessKeys.create(writer, await memberKeyBody(writer, person, wanted, context.now())),
    );
    await answer(response, 201, name, { key: value.body['key'] });
  };

  const update = async (request: Request, response: Response) => {
    const person = await who(response);
    const name = parameter(request, 'name');
    const body = readInput(changeBody, request.body);
    await commit(context, { request, response }, { action: 'update', entity_type: 'access_key', entity_id: name }, async (writer) => {
      await ownKey(writer, person, name);
      return accessKeys.update(writer, name, body, undefined);
    });
    await answer(response, 200, name);
  };

  const remove = async (request: Request, response: Response) => {
    const person = await who(response);
    const name = parameter(request, 'name');
    const stored = await ownKey(storage.catalog, person, name);
    // A key that is made under another name would have the whole budget again.
    if ((await spentOf(stored, context)) > 0)
      throw new Problem('in_use', 'Part of its budget is spent in this period: disable it now, and delete it when the period is over.');
    await commit(context, { request, response }, { action: 'delete', entity_type: 'access_key', entity_id: name }, async (writer) => {
      await ownKey(writer, person, name);
      await accessKeys.remove(writer, name, undefined);
    });
    response.status(204).end();
  };

  const rotate = async ({ request, response }: Call) => {
    const person = await who(response);
    const name = parameter(request, 'name');
    const { overlap_hours } = readInput(rotateBody, request.body ?? {});
    const { key } = await rotateKey(context, { request, response }, { name, overlapHours: overlap_hours, find: (reader) => ownKey(reader, person, name) });
    await answer(response, 200, name, { key });
  };

  const reveal = async (request: Request, response: Response) => {
    const { id, document } = await ownKey(storage.catalog, await who(response), parameter(request, 'name'));
    if (document.sealed === null) throw new Problem('conflict', 'An anonymous key is stored as a hash only: its value cannot be shown again.');
    const value = context.keyring.open(document.sealed, sealedAs.accessKey(id));
    await context.audit({ ...auditOf(request, actorNameOf(response)), action: 'reveal', entity_type: 'access_key', entity_id: document.name });
    response.json({ name: document.name, key: value, api_key: value });
  };
  return { who, create, update, remove, rotate, reveal };
}

export function memberRoutes(accessKeys: ResourceOperations, context: ConsoleContext): Route[] {
  const { who, create, update, remove, rotate, reveal } = createActions(accessKeys, context);
  const { catalog } = context.storage;
  return [
    {
      method: 'get',
      path: `${base}/my/groups`,
      operationId: 'list_my_groups',
      summary: 'The key groups that you are a member of, with the models that their keys may call, and within what you may make keys',
      tag,
      status: 200,
      answer: myGroups,
      async handle(_request, response) {
        response.json({ items: await readGroups(await who(response), context) });
      },
    },
    {
      method: 'get',
      path: all,
      operationId: 'list_my_keys',
      summary: 'Your access keys, with what was spent of their budgets',
      tag,
      status: 200,
      answer: myKeys,
      async handle(_request, response) {
        response.json({ items: await showKeys(await ownKeys(catalog, await who(response)), context) });
      },
    },
    {
      method: 'post',
      path: all,
      operationId: 'create_my_key',
      summary: 'Make a key in a group that you are a member of; its value is shown once',
      tag,
      body: newMemberKey,
      status: 201,
      answer: myKey,
      failures: [403, 404, 409],
      handle: create,
    },
    {
      method: 'patch',
      path: one,
      operationId: 'patch_my_key',
      summary: 'Switch off one of your keys, or describe it',
      tag,
      body: changeBody,
      status: 200,
      answer: myKey,
      failures: [404],
      handle: update,
    },
    {
      method: 'delete',
      path: one,
      operationId: 'delete_my_key',
      summary: 'Delete one of your keys, unless part of its budget is spent',
      tag,
      status: 204,
      failures: [404, 409, 422],
      handle: remove,
    },
    {
      method: 'post',
      path: `${one}/rotate`,
      operationId: 'rotate_my_key',
      summary: 'Replace the value of one of your keys; with `overlap_hours` the old value works so much longer',
      tag,
      body: rotateBody,
      status: 200,
      answer: myKey,
      failures: [404],
      handle: (request, response) => rotate({ request, response }),
    },
    {
      method: 'get',
      path: `${one}/api-key`,
      operationId: 'copy_my_key',
      summary: 'The full value of one of your keys',
      tag,
      status: 200,
      answer: copiedKey,
      failures: [404, 409],
      handle: reveal,
    },
    ...ownUseRoutes(context),
  ];
}

/** Requests and costs of the own keys. */
const ownUseRoutes = (context: ConsoleContext): Route[] => [
  {
    method: 'get',
    path: `${base}/my/requests`,
    operationId: 'list_my_requests',
    summary: 'Requests of your keys, newest first: the last 24 hours unless `from` says otherwise',
    tag,
    query: requestQuery,
    status: 200,
    answer: myRequests,
    async handle(request, response) {
      const { key, limit, page_size, cursor, ...window } = readInput(requestQuery, request.query);
      const keys = (await ownKeys(context.storage.catalog, await personOf(response, context))).filter(
        ({ document }) => key === undefined || document.name === key,
      );
      if (keys.length === 0) return void response.json({ items: [], next_cursor: null });
      const madeAt = new Map(keys.map(({ document, createdAt }) => [document.name, createdAt]));
      const range = toRange(window, context.now(), clocksApartMs);
      const filters = { ...range, from: Math.max(range.from, Math.min(...madeAt.values())), accessKeys: [...madeAt.keys()] };
      const { items, nextCursor } = await context.storage.requests.listRows({
        filters,
        limit: sizeOf({ limit, page_size }),
        ...(cursor !== undefined && { cursor }),
      });
      // Of a key that had the name before, which may have been somebody else's.
      const own = items.filter(({ access_key, started_at }) => started_at >= (madeAt.get(access_key ?? '') ?? Number.POSITIVE_INFINITY));
      response.json({ items: own.map(showOwnRow), next_cursor: nextCursor });
    },
  },
  {
    method: 'get',
    path: `${base}/my/costs`,
    operationId: 'read_my_costs',
    summary: 'What your keys used and cost, by key and by model: the last 30 days unless `from` says otherwise',
    tag,
    query: costQuery,
    status: 200,
    answer: myCosts,
    async handle(request, response) {
      const { from, to = context.now() } = readInput(costQuery, request.query);
      const range = { from: from ?? to - costRangeMs, to };
      const keys = await ownKeys(context.storage.catalog, await personOf(response, context));
      response.json({ from: isoTime(range.from), to: isoTime(range.to), ...(await readOwnCosts(keys, range, context)) });
    },
  },
];
