import type { CacheMark } from '../chat/conversation.ts';
import { own } from '../kit/read.ts';

/** `cache_control`, which some clients and aggregators put on parts and tools of this shape. */
export function readCacheMark(value: unknown): CacheMark | undefined {
  const control = own(value, 'cache_control');
  if (own(control, 'type') !== 'ephemeral') return undefined;
  const ttl = own(control, 'ttl');
  return ttl === '5m' || ttl === '1h' ? { ttl } : {};
}
