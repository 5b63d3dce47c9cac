/** Calls on conversations and their items. */
import type { TurnsFound, TurnsWrite } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { readTurns, type StoreAnswer, writeTurn } from './ask-store.ts';
import type { AnswerCall, CallContext } from './call-context.ts';
import { mayBeStored } from './turn-ids.ts';

const maxNamed = 128;

const noConversation = ({ call }: CallContext): GatewayError =>
  new GatewayError('not_found', { message: `Conversation with id '${(call.target ?? '').slice(0, maxNamed)}' not found.` });
const noItem = ({ call }: CallContext): GatewayError =>
  new GatewayError('not_found', { message: `Conversation item with id '${(call.item ?? '').slice(0, maxNamed)}' not found.` });

/** The id of the conversation that the call names, where there can be one. */
function targetOf(context: CallContext): string {
  const { target = '' } = context.call;
  if (!mayBeStored(target)) throw noConversation(context);
  return target;
}

function itemOf(context: CallContext): string {
  const { item = '' } = context.call;
  if (!mayBeStored(item)) throw noItem(context);
  return item;
}

async function write({ deps }: CallContext, request: TurnsWrite, missing: GatewayError, content?: unknown): Promise<void> {
  const { stored, reason } = await writeTurn(deps.bus, request, content);
  if (stored) return;
  if (reason === 'locked') throw new GatewayError('conversation_locked');
  if (reason === 'full' || reason === 'too-large')
    throw new GatewayError('invalid_request', { message: 'The stored conversations of this access key take up all the room that they may.' });
  throw missing;
}

async function read(context: CallContext): Promise<{ found: TurnsFound; content: unknown; id: string }> {
  const id = targetOf(context);
  const { found, content } = await readTurns(context.deps.bus, { kind: 'conversation', owner: context.call.owner, id });
  if (!found.found) throw noConversation(context);
  return { found, content, id };
}

async function describe(context: CallContext): Promise<{ json: unknown }> {
  const { found, content, id } = await read(context);
  return { json: context.turns.calls.conversation(id, found.createdAt ?? 0, content) };
}

const create: AnswerCall = async (context) => {
  const { call, turns, deps } = context;
  const { items, metadata } = turns.calls.readNewConversation(context.readBody(), deps.mintId);
  const id = deps.mintId(turns.calls.conversationPrefix);
  const createdAt = Date.now();
  await write(context, { kind: 'create-conversation', owner: call.owner, id, createdAt }, noConversation(context), { items, metadata });
  return { json: turns.calls.conversation(id, createdAt, metadata) };
};

const update: AnswerCall = async (context) => {
  const changes = context.turns.calls.readConversationUpdate(context.readBody());
  const id = targetOf(context);
  await write(context, { kind: 'update-conversation', owner: context.call.owner, id }, noConversation(context), changes);
  return describe(context);
};

const remove: AnswerCall = async (context) => {
  const id = targetOf(context);
  await write(context, { kind: 'delete-conversation', owner: context.call.owner, id }, noConversation(context));
  return { json: context.turns.calls.conversationDeleted(id) };
};

const listItems: AnswerCall = async (context) => {
  const { call, turns, deps } = context;
  const { limit, order, after } = turns.calls.readList(call.query);
  const { id } = await read(context);
  const position = after === undefined ? {} : { after };
  const { found, content }: StoreAnswer = await readTurns(deps.bus, { kind: 'conversation-items', owner: call.owner, id, limit, order, ...position });
  if (!found.found) throw noConversation(context);
  return { json: turns.calls.list(Array.isArray(content) ? content : [], found.hasMore === true) };
};

const addItems: AnswerCall = async (context) => {
  const { call, turns, deps } = context;
  const items = turns.calls.readNewItems(context.readBody(), deps.mintId);
  const id = targetOf(context);
  await write(context, { kind: 'add-conversation-items', owner: call.owner, id }, noConversation(context), items);
  return { json: turns.calls.list(items, false) };
};

const getItem: AnswerCall = async (context) => {
  const { call, turns, deps } = context;
  const { id } = await read(context);
  const { found, content } = await readTurns(deps.bus, { kind: 'conversation-item', owner: call.owner, id, item: itemOf(context) });
  if (!found.found) throw noItem(context);
  return { json: turns.calls.item(content) };
};

const deleteItem: AnswerCall = async (context) => {
  const { id } = await read(context);
  await write(context, { kind: 'delete-conversation-item', owner: context.call.owner, id, item: itemOf(context) }, noItem(context));
  return describe(context);
};

export const conversationCalls = {
  'create-conversation': create,
  'get-conversation': describe,
  'update-conversation': update,
  'delete-conversation': remove,
  'list-conversation-items': listItems,
  'add-conversation-items': addItems,
  'get-conversation-item': getItem,
  'delete-conversation-item': deleteItem,
} as const satisfies Record<string, AnswerCall>;
