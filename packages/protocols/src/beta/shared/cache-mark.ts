/** Prompt-cache breakpoints (`cache_control`), both ways, and the most of them a request may hold. */
import type { CacheMark } from '../../chat/conversation.ts';
import type { Losses } from '../../kit/losses.ts';
import { asObject, own } from '../../kit/read.ts';
import type { WireCacheControl } from './wire.ts';

/** `{cache}` of a block or tool that carries a mark; `{}` of one that does not. An unknown lifetime is the default one. */
export function readCache(block: unknown): { cache?: CacheMark } {
  const mark = asObject(own(block, 'cache_control'));
  if (!mark) return {};
  const ttl = own(mark, 'ttl');
  return { cache: ttl === '5m' || ttl === '1h' ? { ttl } : {} };
}

export const writeCache = (mark: CacheMark | undefined): { cache_control?: WireCacheControl } =>
  mark === undefined ? {} : { cache_control: { type: 'ephemeral', ...(mark.ttl !== undefined && { ttl: mark.ttl }) } };

const maxMarks = 4;

/**
 * Removes cache marks until four are left; more are a 400. `marked` lists every object just built that may hold one, in prompt order. The last ones
 * stay: a later breakpoint covers everything before it, and agents move theirs along with the conversation.
 */
export function limitMarks(marked: Iterable<object>, losses: Losses): void {
  const holders = [...marked].filter((holder): holder is { cache_control?: unknown } => 'cache_control' in holder);
  if (holders.length <= maxMarks) return;
  for (const holder of holders.slice(0, -maxMarks)) delete holder.cache_control;
  losses.dropped('cache_control', 'at most four cache breakpoints are taken; the earliest were left out');
}
