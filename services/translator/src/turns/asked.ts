/** Whether a request asks anything of the store of turns. */
import type { Operation } from '@model-gateway/contracts';
import type { StoredTurns, TurnWishes } from '@model-gateway/protocols';
import type { RequestBody } from '../request/body.ts';
import { BodySearch } from '../request/body-search.ts';
import type { RequestContext } from '../request/context.ts';

/** Requests whose input may name stored turns. Only the first of them makes one. */
const operations: readonly Operation[] = ['generate', 'count-tokens', 'compact'];

/** What a request asks, as far as that is known without reading its body. */
export interface Asked {
  turns: StoredTurns;
  /** Something stored is named. */
  names: boolean;
  /** Its reply is to be stored. */
  stores: boolean;
}

/** undefined: nothing. */
export function askedOf({ job, client }: Pick<RequestContext, 'job' | 'client'>, body: RequestBody): Asked | undefined {
  const { turns } = client;
  if (!turns || !operations.includes(job.operation)) return undefined;
  const names = namesStored(turns, body);
  const stores = job.operation === 'generate' && (body.topLevel('store') !== false || body.topLevel('background') === true);
  return names || stores ? { turns, names, stores } : undefined;
}

/** Whether something stored may be named. */
export function namesStored(turns: StoredTurns, body: RequestBody): boolean {
  const search = new BodySearch(body);
  return turns.mayRefer({ contains: (text) => search.contains(text), value: (key) => body.valueBytes(key) });
}

/**
 * undefined: nothing. A body is parsed only where a turn is to be stored, or something stored is named. Throws GatewayError 400 for wishes that cannot be
 * made sense of.
 */
export const readWishes = (request: Pick<RequestContext, 'job' | 'client'>, body: RequestBody): TurnWishes | undefined =>
  askedOf(request, body)?.turns.readWishes(body.parse());
