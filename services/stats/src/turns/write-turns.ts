/** Answers `turns.write`: seals what arrives, and commits it. */
import { isObject, outputOf, type TurnFacts, type TurnFinished, type TurnsWrite, type TurnsWritten } from '@model-gateway/contracts';
import type { Keyring } from '@model-gateway/secrets';
import type { Content, StoredItem, TurnsRepository } from '@model-gateway/storage';
import {
  openJson,
  parseContent,
  parseTurn,
  sealInput,
  sealItems,
  sealPrintedResponse,
  sealResponse,
  sealResponseUnread,
  sealText,
  sealUnread,
  type TurnContent,
} from './content.ts';
import type { WriteQueue } from './write-queue.ts';

/** What the store of turns is made of. */
export interface TurnStore {
  turns: TurnsRepository;
  queue: WriteQueue;
  keyring: Keyring;
  limits: { retentionMs: number; maxBytesPerKey: number };
  /** Milliseconds since the epoch. */
  now: () => number;
  /** A background turn was cancelled. */
  cancelled(id: string): void;
}

type Write<K extends TurnsWrite['kind']> = Extract<TurnsWrite, { kind: K }>;

/** Larger than any body that the gateway takes by default; the bus bounds it before. */
const maxContentBytes = 128 * 1024 * 1024;

/** Throws `invalid_request` for content that is none, and what the database says. */
export async function writeTurns(request: TurnsWrite, body: Uint8Array, store: TurnStore): Promise<TurnsWritten> {
  if (body.length > maxContentBytes) return { stored: false, reason: 'too-large' };
  switch (request.kind) {
    case 'begin':
      return begin(request, body, store);
    case 'put':
      return put(request, body, store);
    case 'finish':
      return finish(request, body, store);
    case 'delete':
      return store.queue.write({ kind: 'delete', owner: request.owner, id: request.id });
    case 'cancel':
      return cancel(request, store);
    case 'forget-owner':
      return { stored: (await store.turns.forgetOwner(request.owner)) >= 0 };
    default:
      return writeConversation(request, body, store);
  }
}

const expiry = ({ now, limits }: TurnStore): number => now() + limits.retentionMs;

function begin(request: Write<'begin'>, body: Uint8Array, store: TurnStore): Promise<TurnsWritten> {
  const { turn } = request;
  return store.queue.write({
    ...{ kind: 'begin', turn },
    ...(sealUnread(body, request, store.keyring, turn) ?? sealBegun(parseTurn(body, request.inputBytes), store, turn)),
    expiresAt: expiry(store),
    maxBytes: store.limits.maxBytesPerKey,
  });
}

const sealBegun = ({ input, response }: TurnContent, { keyring }: TurnStore, turn: TurnFacts): { input: Content; response: Content | null } => ({
  input: sealInput(input, keyring, turn),
  response: response && sealPrintedResponse(response, keyring, turn),
});

function put(request: Write<'put'>, body: Uint8Array, store: TurnStore): Promise<TurnsWritten> {
  const { turn, authority } = request;
  const { keyring, limits, queue } = store;
  // What a conversation gets is sealed item by item.
  const unread = turn.conversation === null ? sealUnread(body, request, keyring, turn) : undefined;
  return queue.write({
    ...{ kind: 'put', turn, authority },
    ...(unread ? { ...unread, append: [] } : sealRead(parseTurn(body, request.inputBytes), store, turn)),
    expiresAt: expiry(store),
    maxBytes: limits.maxBytesPerKey,
  });
}

const sealRead = (
  { input, response }: TurnContent,
  { keyring }: TurnStore,
  { owner, id, conversation }: TurnFacts,
): { input: Content; response: Content; append: readonly StoredItem[] } => ({
  input: sealInput(input, keyring, { owner, id }),
  response: response ? sealPrintedResponse(response, keyring, { owner, id }) : sealResponse(null, keyring, { owner, id }),
  append: conversation === null ? [] : sealItems([...input.value, ...outputOf(response?.value)], keyring, { owner, id: conversation }),
});

async function finish(request: Write<'finish'>, body: Uint8Array, store: TurnStore): Promise<TurnsWritten> {
  const { owner, id, status, authority, conversation, items } = request;
  if (!items || conversation !== null) return finishRead(request, parseContent(body), store);
  const response = sealResponseUnread(body, items, store.keyring, { owner, id });
  return store.queue.write({ kind: 'finish', owner, id, status, authority, response, append: [] });
}

async function finishRead({ owner, id, status, authority, conversation }: Write<'finish'>, response: unknown, store: TurnStore): Promise<TurnsWritten> {
  const { keyring, queue, turns } = store;
  let append: ReturnType<typeof sealItems> = [];
  if (conversation !== null) {
    // Who began the turn knows its input.
    const known = await turns.find(owner, id);
    const into = known?.conversation ?? null;
    if (known && into !== null) append = sealItems([...inputOf(known.input, store, { owner, id }), ...outputOf(response)], keyring, { owner, id: into });
  }
  return queue.write({ kind: 'finish', owner, id, status, authority, response: sealResponse(response, keyring, { owner, id }), append });
}

function inputOf(sealed: string | null, { keyring }: TurnStore, place: { owner: string; id: string }): unknown[] {
  const input = sealed === null ? [] : openJson(sealed, keyring, place);
  return Array.isArray(input) ? input : [];
}

async function cancel({ owner, id }: Write<'cancel'>, store: TurnStore): Promise<TurnsWritten> {
  const written = await store.queue.write({ kind: 'cancel', owner, id });
  if (written.stored) {
    await markCancelled(owner, id, store);
    store.cancelled(id);
  }
  return written;
}

/** The response object says what the turn's row says. */
async function markCancelled(owner: string, id: string, { turns, keyring }: TurnStore): Promise<void> {
  const turn = await turns.find(owner, id);
  if (!turn || turn.response === null) return;
  const response = openJson(turn.response, keyring, { owner, id });
  if (isObject(response)) await turns.replaceResponse(owner, id, sealResponse({ ...response, status: 'cancelled' }, keyring, { owner, id }));
}

/** An ending that came through an outbox: the turn may have been begun, or not even that. */
export async function writeFinished({ turn, authority, content }: TurnFinished, store: TurnStore): Promise<void> {
  // Nothing but its owner is stored of a turn that an upstream keeps.
  if (turn.at) return void (await begin({ kind: 'begin', turn }, new Uint8Array(), store));
  const value = openJson(content, store.keyring, turn);
  const response = isObject(value) ? value['response'] : undefined;
  const input = isObject(value) && Array.isArray(value['input']) ? value['input'] : undefined;
  const known = await store.turns.find(turn.owner, turn.id);
  if (known)
    await finishRead({ kind: 'finish', owner: turn.owner, id: turn.id, status: turn.status, authority, conversation: turn.conversation }, response, store);
  else if (input) await put({ kind: 'put', turn, authority }, Buffer.from(JSON.stringify({ input, response }), 'utf8'), store);
}

type ConversationWrite = Write<'create-conversation' | 'update-conversation' | 'delete-conversation' | 'add-conversation-items' | 'delete-conversation-item'>;

function writeConversation(request: ConversationWrite, body: Uint8Array, store: TurnStore): Promise<TurnsWritten> {
  const { keyring, limits, queue } = store;
  const { owner, id } = request;
  const place = { owner, id };
  const bounds = { expiresAt: expiry(store), maxBytes: limits.maxBytesPerKey };
  switch (request.kind) {
    case 'create-conversation': {
      const { items, metadata } = readConversation(body);
      const { createdAt } = request;
      return queue.write({
        kind: 'create-conversation',
        owner,
        id,
        createdAt,
        ...bounds,
        metadata: sealText(JSON.stringify(metadata), keyring, place),
        items: sealItems(items, keyring, place),
      });
    }
    case 'update-conversation':
      return queue.write({
        kind: 'update-conversation',
        ...{ owner, id, expiresAt: bounds.expiresAt },
        metadata: sealText(JSON.stringify(readConversation(body).metadata), keyring, place),
      });
    case 'delete-conversation':
      return queue.write({ kind: 'delete-conversation', owner, id });
    case 'add-conversation-items': {
      const items = parseContent(body);
      return queue.write({ kind: 'add-conversation-items', owner, id, ...bounds, items: sealItems(Array.isArray(items) ? items : [], keyring, place) });
    }
    case 'delete-conversation-item':
      return queue.write({ kind: 'delete-conversation-item', owner, id, item: request.item });
  }
}

function readConversation(body: Uint8Array): { items: unknown[]; metadata: unknown } {
  const value = parseContent(body);
  const { items = [], metadata = {} } = isObject(value) ? value : {};
  return { items: Array.isArray(items) ? items : [], metadata };
}
