/** Answers `turns.read`. Whatever belongs to another owner is not there. */
import { type ChainedTurn, isObject, outputOf, type TurnFacts, type TurnsFound, type TurnsRead } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { ChainLink, StoredTurn } from '@model-gateway/storage';
import { openJson, openText, type Place } from './content.ts';
import type { TurnStore } from './write-turns.ts';

/** An answer of the store, its content as JSON text. */
export interface Found {
  found: TurnsFound;
  text: string;
}

type Read<K extends TurnsRead['kind']> = Extract<TurnsRead, { kind: K }>;
type ReadStore = Pick<TurnStore, 'turns' | 'keyring'>;

const nothing: Found = { found: { found: false }, text: '' };
/** How often a turn in progress is looked at again. */
const pollMs = 50;

export async function readTurns(request: TurnsRead, store: ReadStore): Promise<Found> {
  switch (request.kind) {
    case 'turn':
      return readTurn(request, store);
    case 'input-items':
      return readInput(request, store);
    case 'history':
      return request.conversation === undefined ? readHistory(request, store) : readConversationHistory(request, store);
    case 'items':
      return readItems(request, store);
    case 'conversation': {
      const found = await store.turns.conversation(request.owner, request.id);
      return found ? { found: { found: true, createdAt: found.createdAt }, text: openText(found.metadata, store.keyring, request) } : nothing;
    }
    case 'conversation-items':
      return readConversationItems(request, store);
    case 'conversation-item': {
      const item = await store.turns.item(request.owner, request.id, request.item);
      return item ? { found: { found: true }, text: openText(item.sealed, store.keyring, request) } : nothing;
    }
    case 'chain':
      return readChain(request, store);
  }
}

async function readChain({ owner, id, maxTurns }: Read<'chain'>, { turns }: ReadStore): Promise<Found> {
  const chain = (await turns.chainOf(owner, id, maxTurns)).reverse();
  const shown = chain.slice(0, maxTurns).map(
    ({ id: turn, parent, conversation, model, status, createdAt, background, requestId, at, deleted }): ChainedTurn => ({
      ...{ id: turn, parent, conversation, model, status, createdAt, background, requestId, deleted },
      ...(at && { at }),
    }),
  );
  return { found: { found: chain.length > 0, hasMore: chain.length > maxTurns }, text: JSON.stringify(shown) };
}

const factsOf = ({ id, owner, parent, conversation, model, status, createdAt, background, holder, requestId, stream, at }: StoredTurn): TurnFacts => ({
  ...{ id, owner, parent, conversation, model, status, createdAt, background, holder, requestId },
  ...(stream !== undefined && { stream }),
  ...(at && { at }),
});

async function readTurn({ owner, id, waitMs = 0 }: Read<'turn'>, { turns, keyring }: ReadStore): Promise<Found> {
  const until = performance.now() + waitMs;
  let turn = await turns.find(owner, id);
  while (turn && turn.status === 'in_progress' && !turn.background && !turn.at && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    turn = await turns.find(owner, id);
  }
  if (!turn) {
    // The turn itself is the last of its chain. One that was stored since it was looked for is not deleted: the next look finds it.
    const left = (await turns.chain(owner, id, 1)).at(-1);
    return left?.deleted ? { found: { found: false, deleted: true }, text: '' } : nothing;
  }
  return { found: { found: true, turn: factsOf(turn) }, text: turn.response === null ? '' : openText(turn.response, keyring, { owner, id }) };
}

async function readInput({ owner, id }: Read<'input-items'>, { turns, keyring }: ReadStore): Promise<Found> {
  const turn = await turns.find(owner, id);
  if (!turn) return nothing;
  return { found: { found: true, turn: factsOf(turn) }, text: turn.input === null ? '[]' : openText(turn.input, keyring, { owner, id }) };
}

async function readHistory(request: Read<'history'>, { turns, keyring }: ReadStore): Promise<Found> {
  const { owner, turn: id = '', maxTurns, maxBytes } = request;
  const links = await finishedChain(request, id, { turns });
  if (links.length === 0) return nothing;
  if (links.length > maxTurns) throw tooLong(`The stored conversation has more than ${maxTurns} turns.`);
  if (links.reduce((sum, { bytes }) => sum + bytes, 0) > maxBytes) throw tooLong(`The stored conversation is larger than ${maxBytes} bytes.`);
  const loaded = await turns.load(
    owner,
    links.map((link) => link.id),
  );
  const texts = loaded.flatMap((turn) => itemsOf(turn, keyring));
  const last = loaded.at(-1);
  const at = last?.id === id ? last.at : undefined;
  const cut = links[0]?.parent !== null;
  return { found: { found: true, turns: loaded.length, ...(last && at && { at, turn: factsOf(last) }), ...(cut && { cut }) }, text: `[${texts.join(',')}]` };
}

const tooLong = (message: string): GatewayError => new GatewayError('context_length_exceeded', { message });

/** The chain once its last turn has ended. Throws `response_in_progress` where that takes too long. */
async function finishedChain({ owner, maxTurns, waitMs }: Read<'history'>, id: string, { turns }: Pick<ReadStore, 'turns'>): Promise<ChainLink[]> {
  const until = performance.now() + waitMs;
  for (;;) {
    const links = await turns.chain(owner, id, maxTurns);
    const status = links.at(-1)?.status;
    if (status !== 'queued' && status !== 'in_progress') return links;
    if (performance.now() >= until) throw new GatewayError('response_in_progress');
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** JSON texts of the items that a turn added. */
function itemsOf(turn: StoredTurn, keyring: TurnStore['keyring']): string[] {
  const place: Place = turn;
  if (turn.at) return [JSON.stringify({ type: 'upstream_turn', id: turn.id, at: turn.at })];
  const input = turn.input === null ? '' : openText(turn.input, keyring, place).slice(1, -1);
  const output = turn.response === null ? [] : outputOf(openJson(turn.response, keyring, place)).map((item) => JSON.stringify(item));
  return [...(input.trim() === '' ? [] : [input]), ...output];
}

/** Items of one statement. */
const itemsAtOnce = 200;

/** How long the end of a conversation's last turn, which its caller may have seen already, is waited for on its way to the store. */
const endOnItsWayMs = 1_000;

async function readConversationHistory({ owner, conversation = '', maxBytes, waitMs }: Read<'history'>, { turns, keyring }: ReadStore): Promise<Found> {
  if (!(await turns.conversation(owner, conversation))) return nothing;
  // A request that is still running then is found when the next turn begins.
  const until = performance.now() + Math.min(waitMs, endOnItsWayMs);
  while ((await turns.isBusy(owner, conversation)) && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, pollMs));
  const texts: string[] = [];
  let bytes = 0;
  let after: string | undefined;
  for (;;) {
    const page = await turns.items(owner, conversation, { after, limit: itemsAtOnce, order: 'asc' });
    for (const item of page?.items ?? []) {
      bytes += item.bytes;
      if (bytes > maxBytes) throw tooLong(`The stored conversation is larger than ${maxBytes} bytes.`);
      texts.push(openText(item.sealed, keyring, { owner, id: conversation }));
    }
    after = page?.items.at(-1)?.id;
    if (!page?.hasMore || after === undefined) return { found: { found: true }, text: `[${texts.join(',')}]` };
  }
}

async function readItems({ owner, ids }: Read<'items'>, { turns, keyring }: ReadStore): Promise<Found> {
  const places = await turns.turnsOfItems(owner, ids);
  const wanted = new Set(ids);
  const items = new Map<string, unknown>();
  for (const turn of await turns.load(owner, [...new Set(places.values())])) {
    const input = turn.input === null ? [] : openJson(turn.input, keyring, turn);
    const output = turn.response === null ? [] : outputOf(openJson(turn.response, keyring, turn));
    for (const item of [...(Array.isArray(input) ? (input as unknown[]) : []), ...output])
      if (isObject(item) && typeof item['id'] === 'string' && wanted.has(item['id'])) items.set(item['id'], item);
  }
  return { found: { found: true }, text: JSON.stringify(Object.fromEntries(items)) };
}

async function readConversationItems({ owner, id, after, limit, order }: Read<'conversation-items'>, { turns, keyring }: ReadStore): Promise<Found> {
  const conversation = await turns.conversation(owner, id);
  if (!conversation) return nothing;
  const page = await turns.items(owner, id, { after, limit, order });
  if (!page) throw new GatewayError('invalid_request', { message: 'after names no item of the conversation.', param: 'after' });
  const texts = page.items.map(({ sealed }) => openText(sealed, keyring, { owner, id }));
  return { found: { found: true, createdAt: conversation.createdAt, hasMore: page.hasMore }, text: `[${texts.join(',')}]` };
}
