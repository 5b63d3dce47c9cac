/** Whether a request asks anything of the store of turns. */
import type { Operation } from '@model-gateway/contracts';
import type { TurnWishes } from '@model-gateway/protocols';
import type { RequestBody } from '../request/body.ts';
import { BodySearch } from '../request/body-search.ts';
import type { RequestContext } from '../request/context.ts';

/** Requests whose input may name stored turns. Only the first of them makes one. */
const operations: readonly Operation[] = ['generate', 'count-tokens', 'compact'];

/**
 * undefined: nothing. A body is parsed only where a turn is to be stored, or something stored is named. Throws GatewayError 400 for wishes that cannot be
 * made sense of.
 */
export function readWishes({ job, client }: Pick<RequestContext, 'job' | 'client'>, body: RequestBody): TurnWishes | undefined {
  const { turns } = client;
  if (!turns || !operations.includes(job.operation)) return undefined;
  const search = new BodySearch(body);
  const names = turns.references.some((word) => search.contains(word));
  const stores = job.operation === 'generate' && (body.topLevel('store') !== false || body.topLevel('background') === true);
  return names || stores ? turns.readWishes(body.parse()) : undefined;
}
