/** Cache marks as points of their own: each stands after the block that carries the mark, and covers all before it. */
import type { CacheMark } from '../../chat/conversation.ts';
import type { UpstreamAdapter } from '../../contract/index.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, own } from '../../kit/read.ts';
import { type CloudFamily, cloudFamily } from './model-family.ts';
import type { WireCachePoint } from './wire.ts';

const maxPoints = 4;

/** One block for each mark the model takes, none for others. */
export function writeCachePoint(mark: CacheMark | undefined, place: CloudFamily['cachePoints'][number], family: CloudFamily, losses: Losses): WireCachePoint[] {
  if (!mark) return [];
  if (!family.cachePoints.includes(place)) {
    losses.add('cache_control', 'dropped', `this model takes no cache points in its ${place}`);
    return [];
  }
  if (mark.ttl === '1h' && !family.cacheLifetimes) losses.add('cache_control.ttl', 'downgraded', 'this model keeps its cache for five minutes');
  return [{ cachePoint: { type: 'default', ...(mark.ttl !== undefined && family.cacheLifetimes && { ttl: mark.ttl }) } }];
}

/** Whether the model takes a point right after this block of a message: some refuse the whole request where it follows anything but text. */
export const takesPointAfter = (block: unknown, family: CloudFamily): boolean => !family.cachesAfterText || own(block, 'text') !== undefined;

export const isCachePoint = (block: object): block is WireCachePoint => 'cachePoint' in block;

/** Removes cache points until four are left; more are a 400. The last ones stay: a later point covers what precedes it. `lists` is in prompt order. */
export function limitCachePoints(lists: readonly object[][], losses: Losses): void {
  let spare = lists.reduce((sum, list) => sum + list.filter(isCachePoint).length, 0) - maxPoints;
  if (spare <= 0) return;
  losses.add('cache_control', 'dropped', 'at most four cache points are taken; the earliest were left out');
  for (const list of lists) {
    const kept = list.filter((block) => !isCachePoint(block) || spare-- <= 0);
    list.splice(0, list.length, ...kept);
  }
}

/** Turns from the end that get a point: the last writes, the one before is what the previous call wrote. */
const markedTurns = 2;

/** Points for callers whose protocol has no marks, where the model takes them: after the system text (or the tools without one) and the last user turns. */
export const injectCache: NonNullable<UpstreamAdapter['injectCache']> = (body, { target }) => {
  const family = cloudFamily(target);
  const point = (list: unknown, place: CloudFamily['cachePoints'][number]): boolean => {
    const blocks = asArray(list) ?? [];
    if (!family.cachePoints.includes(place) || blocks.length === 0) return false;
    if (place === 'messages' && !takesPointAfter(blocks.at(-1), family)) return false;
    blocks.push({ cachePoint: { type: 'default' } } satisfies WireCachePoint);
    return true;
  };
  if (!point(own(body, 'system'), 'system')) point(own(own(body, 'toolConfig'), 'tools'), 'tools');
  const turns = (asArray(own(body, 'messages')) ?? []).filter((message) => own(message, 'role') === 'user');
  for (const message of turns.slice(-markedTurns)) point(own(message, 'content'), 'messages');
};
