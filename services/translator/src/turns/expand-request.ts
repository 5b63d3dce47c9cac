/** Inserts the stored turns and items that a request refers to into its body, as if its caller had sent all of them. */
import type { Loss, Plan, TurnAtUpstream } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { StoredTurns, TurnWishes } from '@model-gateway/protocols';
import type { RequestBody } from '../request/body.ts';
import type { CurrentRequest } from '../request/current.ts';
import type { TurnDeps } from './deps.ts';
import { fillHistory, isKeptItem, waitUntilOver } from './kept-items.ts';
import { historyCut, unknownPrevious } from './losses.ts';
import { type Chain, noChain, noItems, readChain, readItems } from './read-named.ts';

/** What the store returned. */
export interface Expansion {
  body: RequestBody;
  losses: readonly Loss[];
  /** The turn that the request goes on from; null: none, or one that is not there. */
  parent: string | null;
  items: ReadonlyMap<string, unknown>;
  /** Set where the request goes to the upstream that keeps the turn before it: its name is sent, not its items. */
  kept?: { turn: string };
}

type Expanded = Pick<CurrentRequest, 'request' | 'body'>;

const namesAnything = ({ previous, conversation, references }: TurnWishes): boolean =>
  previous !== undefined || conversation !== undefined || references.length > 0;

/**
 * Throws 404 for conversations and items that are not there, `previous_response_not_found` where the request came over a WebSocket, and
 * `storage_unavailable`.
 */
export async function expandRequest(current: Expanded, wishes: TurnWishes, deps: TurnDeps): Promise<Expansion> {
  const { request, body } = current;
  const { job, client } = request;
  if (!client.turns || !namesAnything(wishes)) return { body, losses: [], parent: null, items: noItems };
  const owner = job.accessKeyId;
  const [chain, items] =
    owner === undefined ? [noChain, noItems] : await Promise.all([readChain(owner, wishes, client.turns, deps), readItems(owner, wishes, deps)]);
  if (!chain.found && wishes.conversation !== undefined) throw noConversation(wishes.conversation);
  const kept = await goOnUpstream(current, wishes, chain, deps);
  if (kept) return kept;
  const known = await replayable(chain, deps);
  const unknown = !known.found && wishes.previous !== undefined;
  if (unknown && job.socket) throw new GatewayError('previous_response_not_found', { param: 'previous_response_id' });
  const named = withHistory(items, wishes, known);
  return {
    body: expanded(body, client.turns, known.history, named),
    losses: unknown ? [unknownPrevious] : known.cut ? [historyCut] : [],
    parent: known.turn ?? null,
    items: named,
  };
}

/** Sends the request to the account that keeps the previous turn, under that account's own id for the turn. undefined: it cannot, or there is no such account. */
async function goOnUpstream(
  { request, body }: Expanded,
  { references }: TurnWishes,
  { at, turn, maybeRunning }: Chain,
  deps: TurnDeps,
): Promise<Expansion | undefined> {
  const { job, background } = request;
  // Whose the items are that a request names, only the gateway knows; and what reads a history without adding to it is given it.
  if (!at || turn === undefined || background || references.length > 0 || (deps.keptBy === 'gateway' && job.operation !== 'generate')) return undefined;
  const plan = await planAt(at, job.plan, deps);
  if (!plan || (maybeRunning && !(await waitUntilOver(turn, at, deps.keeper)))) return undefined;
  request.job = { ...job, plan };
  return { body: body.heldBy('upstream'), losses: [], parent: turn, items: noItems, kept: { turn } };
}

/** The plan reduced to the account that keeps the turn; undefined: that account is not in the plan. */
async function planAt({ model, upstream, account }: TurnAtUpstream, plan: Plan, { keeper }: TurnDeps): Promise<Plan | undefined> {
  const node = plan.nodes.find((one) => one.model === model && one.upstream === upstream);
  if (!node) return undefined;
  const snapshot = await keeper.catalog.at(plan.revision);
  const keyIndex = snapshot.upstreams.get(upstream)?.api_keys.findIndex(({ id }) => id === account) ?? -1;
  if (keyIndex < 0 && account !== '') return undefined;
  const { tentative: _tentative, ...settled } = plan;
  return { ...settled, nodes: [{ ...node, keys: [keyIndex] }] };
}

/** The chain, completed by the items that upstreams keep. Where the gateway stores no turns it does not read them either. */
async function replayable(chain: Chain, { keptBy, keeper }: TurnDeps): Promise<Chain> {
  if (!chain.history.some(isKeptItem)) return chain;
  if (keptBy !== 'gateway') return noChain;
  const { items, missing } = await fillHistory(chain.history, keeper);
  // A turn that its upstream has forgotten counts as one that never existed.
  if (items.length === 0 && chain.at) return noChain;
  return { ...chain, history: items, ...(missing && { cut: true }) };
}

/** Items of the history may be named too: upstreams, not the store, know those of the turns that they keep. */
function withHistory(items: ReadonlyMap<string, unknown>, { references }: TurnWishes, { history }: Chain): ReadonlyMap<string, unknown> {
  const missing = new Set(references.filter((id) => !items.has(id)));
  if (missing.size === 0 || history.length === 0) return items;
  const all = new Map(items);
  for (const item of history) {
    const id = typeof item === 'object' && item !== null ? (item as Record<string, unknown>)['id'] : undefined;
    if (typeof id === 'string' && missing.has(id)) all.set(id, item);
  }
  return all;
}

function expanded(body: RequestBody, turns: StoredTurns, history: readonly unknown[], items: ReadonlyMap<string, unknown>): RequestBody {
  return body.withBody(Buffer.from(JSON.stringify(turns.expand(body.parse(), history, items)), 'utf8'));
}

const maxNamed = 128;
export const noConversation = (id: string): GatewayError =>
  new GatewayError('not_found', { param: 'conversation', message: `Conversation with id '${id.slice(0, maxNamed)}' not found.` });
