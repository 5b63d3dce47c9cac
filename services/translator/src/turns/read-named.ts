/** Reads from the store what a request names: the turns before it, and single items. */
import type { TurnAtUpstream } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { StoredTurns, TurnWishes } from '@model-gateway/protocols';
import { lookAgain, readTurns } from './ask-store.ts';
import type { TurnDeps } from './deps.ts';
import { ageOf, mayBeStored, storedIds } from './turn-ids.ts';

type ReadDeps = Pick<TurnDeps, 'bus' | 'maxHistoryBytes'>;

/** A turn still in progress is waited for this long. */
const waitMs = 5_000;
/** A longer chain is refused, never cut. */
const maxTurns = 1_000;
/** Ids of one question. */
const idsAtOnce = 1_000;

/** The turns that a request goes on from. */
export interface Chain {
  history: readonly unknown[];
  found: boolean;
  /** The turn, by the name under which it is stored. */
  turn?: string;
  /** Set where an upstream keeps that turn. */
  at?: TurnAtUpstream;
  /** It may still be in progress there. */
  maybeRunning?: boolean;
  /** The oldest turns have expired. */
  cut?: boolean;
}

/** The chain of nothing. */
export const noChain: Chain = { history: [], found: false };
export const noItems: ReadonlyMap<string, unknown> = new Map();

export async function readChain(owner: string, { previous, conversation }: TurnWishes, { idPrefix }: StoredTurns, deps: ReadDeps): Promise<Chain> {
  if (conversation !== undefined) return mayBeStored(conversation) ? readHistory(owner, { conversation }, deps) : noChain;
  const ids = previous === undefined ? [] : storedIds(previous, idPrefix);
  const [first] = ids;
  return first === undefined ? noChain : ((await lookAgain(ageOf(first, idPrefix), () => findChain(owner, ids, deps))) ?? noChain);
}

async function findChain(owner: string, ids: readonly string[], deps: ReadDeps): Promise<Chain | undefined> {
  for (const turn of ids) {
    const chain = await readHistory(owner, { turn }, deps);
    if (chain.found) return { ...chain, turn };
  }
  return undefined;
}

async function readHistory(owner: string, named: { turn: string } | { conversation: string }, { bus, maxHistoryBytes }: ReadDeps): Promise<Chain> {
  const { found, content } = await readTurns(bus, { kind: 'history', owner, ...named, waitMs, maxTurns, maxBytes: maxHistoryBytes });
  if (!found.found) return noChain;
  return {
    history: Array.isArray(content) ? content : [],
    found: true,
    // A store of an earlier version does not say how it was made, and knows of runs in the background alone.
    ...(found.at && { at: found.at, maybeRunning: found.turn?.background !== false }),
    ...(found.cut && { cut: true }),
  };
}

/** The items that the input names; those that are not there yet are looked for again, as turns are. Refuses what is larger than a body may be. */
export async function readItems(owner: string, { references }: TurnWishes, { bus, maxHistoryBytes }: ReadDeps): Promise<ReadonlyMap<string, unknown>> {
  const named = new Set(references.filter(mayBeStored));
  if (named.size === 0) return noItems;
  const items = new Map<string, unknown>();
  let size = 0;
  // In as many questions as the bus takes.
  const ask = async (ids: readonly string[]): Promise<void> => {
    for (let from = 0; from < ids.length; from += idsAtOnce) {
      const { content, bytes } = await readTurns(bus, { kind: 'items', owner, ids: ids.slice(from, from + idsAtOnce) });
      size += bytes;
      if (size > maxHistoryBytes)
        throw new GatewayError('context_length_exceeded', { message: `The stored items that the input names are larger than ${maxHistoryBytes} bytes.` });
      if (typeof content === 'object' && content !== null) for (const [id, item] of Object.entries(content)) items.set(id, item);
    }
  };
  await lookAgain('unknown', async () => {
    await ask([...named].filter((id) => !items.has(id)));
    return items.size === named.size || undefined;
  });
  return items;
}
