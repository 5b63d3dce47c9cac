/** Stored turns: the chain behind a request, what one turn holds, and their deletion, one by one or all of an access key. */
import { type ChainedTurn, printMaybeMoney, type RequestRow } from '@model-gateway/contracts';
import type { AccessKeyDocument, StoredResource } from '@model-gateway/storage';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import { actorNameOf, auditOf } from '../audit/audit-of.ts';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { deleteTurn, forgetOwner, readChain, readContent } from '../turns/turn-store.ts';
import { isoTime } from './answers/iso-time.ts';
import { turnChain, turnContent } from './answers/turns.ts';
import { base, parameter, type Route } from './route.ts';

/** What a page shows, and what one reading of rows takes. */
const maxTurns = 200;

const noTurn = () => new Problem('not_found', 'This access key has no stored turn of this id.');

export function turnRoutes(context: ConsoleContext): Route[] {
  const { bus, storage } = context;
  const findKey = async (request: Request): Promise<StoredResource<AccessKeyDocument>> => {
    const key = await storage.catalog.accessKeys.find(parameter(request, 'name'));
    if (!key) throw new Problem('not_found', 'There is no access key of this name.');
    return key;
  };
  return [
    {
      method: 'get',
      path: `${base}/logs/{id}/turns`,
      operationId: 'read_log_turns',
      summary: `The stored turn that a request made and the turns it goes on from, the nearest first, without what they hold; at most ${maxTurns}`,
      tag: 'logs',
      status: 200,
      answer: turnChain,
      failures: [404, 503],
      async handle(request, response) {
        const row = await storage.requests.findRow(parameter(request, 'id'));
        if (!row) throw new Problem('not_found', 'There is no request of this id.');
        response.json(await chainOf(row, context));
      },
    },
    {
      method: 'get',
      path: `${base}/access-keys/{name}/turns/{turn}`,
      operationId: 'read_access_key_turn',
      summary: 'What a stored turn holds, as it was sent and answered, where the key group stores bodies; the reading is audited',
      tag: 'access-keys',
      status: 200,
      answer: turnContent,
      failures: [403, 404, 413, 503],
      async handle(request, response) {
        const key = await findKey(request);
        if (!(await mayRead(key, context))) throw new Problem('forbidden', 'The key group does not store bodies: what its callers wrote is not shown.');
        const id = parameter(request, 'turn');
        const content = await readContent(bus, { owner: key.id, id });
        if (content === null) throw noTurn();
        await auditTurn(context, { request, response }, 'reveal', { id, accessKey: key.document.name });
        response.json({ id, access_key: key.document.name, ...content });
      },
    },
    {
      method: 'delete',
      path: `${base}/access-keys/{name}/turns/{turn}`,
      operationId: 'delete_access_key_turn',
      summary: 'Delete what a stored turn holds; turns that go on from it keep what came before. The deletion is audited',
      tag: 'access-keys',
      status: 204,
      failures: [404, 503],
      async handle(request, response) {
        const key = await findKey(request);
        const id = parameter(request, 'turn');
        if (!(await deleteTurn(bus, { owner: key.id, id }))) throw noTurn();
        await auditTurn(context, { request, response }, 'delete', { id, accessKey: key.document.name });
        response.status(204).end();
      },
    },
    {
      method: 'delete',
      path: `${base}/access-keys/{name}/turns`,
      operationId: 'delete_access_key_turns',
      summary: 'Delete every stored turn and conversation of an access key; the deletion is audited',
      tag: 'access-keys',
      status: 204,
      failures: [404, 503],
      async handle(request, response) {
        const key = await findKey(request);
        await forgetOwner(bus, key.id);
        await auditTurn(context, { request, response }, 'delete', { id: '*', accessKey: key.document.name });
        response.status(204).end();
      },
    },
  ];
}

/** `id` is `*` for all turns of the key. */
const auditTurn = (
  { audit }: ConsoleContext,
  { request, response }: { request: Request; response: Response },
  action: 'reveal' | 'delete',
  { id, accessKey }: { id: string; accessKey: string },
): Promise<void> => audit({ ...auditOf(request, actorNameOf(response)), action, entity_type: 'turn', entity_id: id, diff: { access_key: accessKey } });

/** A turn holds what its caller wrote and was answered: it is shown where bodies are. */
async function mayRead(key: StoredResource<AccessKeyDocument>, { storage }: ConsoleContext): Promise<boolean> {
  const group = await storage.catalog.keyGroups.find(key.document.group);
  return group?.document.store_bodies?.enabled === true;
}

/** Turns belong to the row's access key: the chain is read as that key's, so that an id from elsewhere shows nothing of another. */
async function chainOf(row: RequestRow, context: ConsoleContext): Promise<z.output<typeof turnChain>> {
  const { bus, storage } = context;
  const key = row.turn_id === null || row.access_key === null ? null : await storage.catalog.accessKeys.find(row.access_key);
  if (row.turn_id === null || !key) return { items: [], has_more: false, access_key: null, readable: false };
  const { turns, hasMore } = await readChain(bus, { owner: key.id, id: row.turn_id }, maxTurns);
  const rows = await storage.requests.findRows(turns.map(({ requestId }) => requestId));
  const rowOf = new Map(rows.map((one) => [one.id, one]));
  return {
    items: turns.map((turn) => showTurn(turn, rowOf.get(turn.requestId))),
    has_more: hasMore,
    access_key: key.document.name,
    readable: await mayRead(key, context),
  };
}

function showTurn({ createdAt, requestId, at, ...turn }: ChainedTurn, row: RequestRow | undefined): z.output<typeof turnChain>['items'][number] {
  const { id, parent, conversation, model, status, background, deleted } = turn;
  const facts = { id, parent, conversation, model, status, created_at: isoTime(createdAt), background, deleted };
  return { ...facts, upstream: at?.upstream ?? null, request_id: requestId, request: row ? showRequest(row) : null };
}

const showRequest = (row: RequestRow) => ({
  status: row.status,
  error_code: row.error_code,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  cache_read_tokens: row.cache_read_tokens,
  cache_write_tokens: row.cache_write_tokens,
  reasoning_tokens: row.reasoning_tokens,
  cost: printMaybeMoney(row.cost_micros),
  cost_micros: row.cost_micros,
  currency: row.currency,
  duration_ms: row.duration_ms,
});
