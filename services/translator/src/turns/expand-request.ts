/** Puts what a request names of the store into its body: then it goes on as if its caller had sent it all. */
import type { Loss, Plan, TurnAtUpstream } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { StoredTurns, TurnWishes } from '@model-gateway/protocols';
import type { RequestBody } from '../request/body.ts';
import type { CurrentRequest } from '../request/current.ts';
import { lookAgain, readTurns } from './ask-store.ts';
import type { TurnDeps } from './deps.ts';
import { fillHistory } from './kept-items.ts';
import { unknownPrevious } from './losses.ts';
import { mayBeStored, storedIds } from './turn-ids.ts';

/** A turn still in progress is waited for this long. */
const waitMs = 5_000;
/** A longer chain is refused, never cut. */
const maxTurns = 1_000;

/** What the store gave. */
export interface Expansion {
  body: RequestBody;
  losses: readonly Loss[];
  /** The turn that the request goes on from; null: none, or one that is not there. */
  parent: string | null;
  items: ReadonlyMap<string, unknown>;
  /** Set where the request goes to the upstream that keeps the turn before it: its name is sent, not its items. */
  kept?: { turn: string };
}

interface Chain {
  history: readonly unknown[];
  found: boolean;
  /** The turn, by the name under which it is stored. */
  turn?: string;
  at?: TurnAtUpstream;
}

const noItems: ReadonlyMap<string, unknown> = new Map();

const namesAnything = ({ previous, conversation, references }: TurnWishes): boolean =>
  previous !== undefined || conversation !== undefined || references.length > 0;

/**
 * Throws 404 for conversations and items that are not there, `previous_response_not_found` where the request came over a WebSocket, and
 * `storage_unavailable`.
 */
export async function expandRequest({ request, body }: Pick<CurrentRequest, 'request' | 'body'>, wishes: TurnWishes, deps: TurnDeps): Promise<Expansion> {
  const { job, client } = request;
  if (!client.turns || !namesAnything(wishes)) return { body, losses: [], parent: null, items: noItems };
  const owner = job.accessKeyId;
  const [chain, items] =
    owner === undefined ? [nothing, noItems] : await Promise.all([readChain(owner, wishes, client.turns, deps), readItems(owner, wishes, deps)]);
  if (!chain.found && wishes.conversation !== undefined) throw noConversation(wishes.conversation);
  const unknown = !chain.found && wishes.previous !== undefined;
  if (unknown && job.socket) throw new GatewayError('previous_response_not_found', { param: 'previous_response_id' });
  if (chain.at && chain.turn !== undefined && wishes.background && !request.background && items.size === 0) {
    const plan = await planAt(chain.at, job.plan, deps);
    if (plan) {
      request.job = { ...job, plan };
      return { body: body.heldBy('upstream'), losses: [], parent: chain.turn, items, kept: { turn: chain.turn } };
    }
  }
  return {
    body: expanded(body, client.turns, await fillHistory(chain.history, deps.keeper), items),
    losses: unknown ? [unknownPrevious] : [],
    parent: chain.turn ?? null,
    items,
  };
}

/** The same plan for the account that keeps the turn alone; undefined: it is none of the plan's. */
async function planAt({ model, upstream, account }: TurnAtUpstream, plan: Plan, { keeper }: TurnDeps): Promise<Plan | undefined> {
  const node = plan.nodes.find((one) => one.model === model && one.upstream === upstream);
  if (!node) return undefined;
  const snapshot = await keeper.catalog.at(plan.revision);
  const keyIndex = snapshot.upstreams.get(upstream)?.api_keys.findIndex(({ id }) => id === account) ?? -1;
  return keyIndex < 0 && account !== '' ? undefined : { ...plan, nodes: [{ ...node, keys: [keyIndex] }] };
}

function expanded(body: RequestBody, turns: StoredTurns, history: readonly unknown[], items: ReadonlyMap<string, unknown>): RequestBody {
  return body.withBody(Buffer.from(JSON.stringify(turns.expand(body.parse(), history, items)), 'utf8'));
}

const nothing: Chain = { history: [], found: false };

async function readChain(owner: string, { previous, conversation }: TurnWishes, { idPrefix }: StoredTurns, deps: TurnDeps): Promise<Chain> {
  if (conversation !== undefined) return mayBeStored(conversation) ? readHistory(owner, { conversation }, deps) : nothing;
  const ids = previous === undefined ? [] : storedIds(previous, idPrefix);
  return ids.length === 0 ? nothing : ((await lookAgain(() => findChain(owner, ids, deps))) ?? nothing);
}

async function findChain(owner: string, ids: readonly string[], deps: TurnDeps): Promise<Chain | undefined> {
  for (const turn of ids) {
    const chain = await readHistory(owner, { turn }, deps);
    if (chain.found) return { ...chain, turn };
  }
  return undefined;
}

async function readHistory(owner: string, named: { turn: string } | { conversation: string }, { bus, maxHistoryBytes }: TurnDeps): Promise<Chain> {
  const { found, content } = await readTurns(bus, { kind: 'history', owner, ...named, waitMs, maxTurns, maxBytes: maxHistoryBytes });
  if (!found.found) return nothing;
  return { history: Array.isArray(content) ? content : [], found: true, ...(found.at && { at: found.at }) };
}

async function readItems(owner: string, { references }: TurnWishes, { bus }: TurnDeps): Promise<ReadonlyMap<string, unknown>> {
  const ids = references.filter(mayBeStored);
  if (ids.length === 0) return noItems;
  const { content } = await readTurns(bus, { kind: 'items', owner, ids });
  return typeof content === 'object' && content !== null ? new Map(Object.entries(content)) : noItems;
}

const maxNamed = 128;
export const noConversation = (id: string): GatewayError =>
  new GatewayError('not_found', { param: 'conversation', message: `Conversation with id '${id.slice(0, maxNamed)}' not found.` });
