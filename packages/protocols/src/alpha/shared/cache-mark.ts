import type { CacheMark } from '../../chat/conversation.ts';
import { own } from '../../kit/read.ts';

/** `cache_control`, which some clients and aggregators put on parts and tools of this shape, or the vendor's own `prompt_cache_breakpoint`. */
export function readCacheMark(value: unknown): CacheMark | undefined {
  const control = own(value, 'cache_control');
  if (own(control, 'type') === 'ephemeral') {
    const ttl = own(control, 'ttl');
    return ttl === '5m' || ttl === '1h' ? { ttl } : {};
  }
  return readBreakpoint(value);
}

/** The vendor keeps what is marked for half an hour or longer; a mark that names its time asks for the longer of the lifetimes that others have. */
export function readBreakpoint(value: unknown): CacheMark | undefined {
  const breakpoint = own(value, 'prompt_cache_breakpoint');
  if (breakpoint === undefined || breakpoint === null) return undefined;
  return markFor(own(breakpoint, 'ttl'));
}

/** A mark of the lifetime that this vendor names so. */
export function markFor(ttl: unknown): CacheMark {
  if (ttl === undefined || ttl === null) return {};
  return { ttl: '1h', ...((ttl === '30m' || ttl === '12h') && { openaiTtl: ttl }) };
}
