/** A number of requests in a sliding window of time: an exact log of times for small limits, two counters for large ones. */

/** Limits above this use counters: an exact log would take too much memory for one key. */
export const maxLogLength = 1000;

/** A request limit: `limit` requests in any `windowMs`. */
export interface WindowLimit {
  limit: number;
  windowMs: number;
}

/** What is known of one caller. Which form it has depends on the limit. */
export type WindowState = LogState | CounterState;
/** The exact form: the time of each counted request, in ms. */
export interface LogState {
  kind: 'log';
  /** Ascending. */
  times: number[];
}
/** The approximate form for large limits: counts of the present and the previous window. */
export interface CounterState {
  kind: 'counters';
  /** Number of the window since the epoch. */
  window: number;
  current: number;
  previous: number;
}

/** The answer to one request counted against a window. */
export interface Hit {
  allowed: boolean;
  /** Requests counted now. */
  used: number;
  /** Milliseconds until one more may pass; 0 when it did. */
  retryMs: number;
}

export const openWindow = ({ limit }: WindowLimit): WindowState =>
  limit <= maxLogLength ? { kind: 'log', times: [] } : { kind: 'counters', window: 0, current: 0, previous: 0 };

/** Whether the state fits the limit, which may have been edited since. */
export const fitsWindow = (state: WindowState, { limit }: WindowLimit): boolean => (state.kind === 'log') === limit <= maxLogLength;

/** Counts one request if it may pass. `count: false` only looks. */
export const hitWindow = (state: WindowState, limit: WindowLimit, now: number, count = true): Hit =>
  state.kind === 'log' ? hitLog(state, limit, now, count) : hitCounters(state, limit, now, count);

function hitLog({ times }: LogState, { limit, windowMs }: WindowLimit, now: number, count: boolean): Hit {
  let old = 0;
  while (old < times.length && times[old]! <= now - windowMs) old++;
  if (old > 0) times.splice(0, old);
  if (times.length >= limit) return { allowed: false, used: times.length, retryMs: times[times.length - limit]! + windowMs - now };
  // A clock that went back must not put the log out of order.
  if (count) times.push(Math.max(now, times.at(-1) ?? now));
  return { allowed: true, used: times.length, retryMs: 0 };
}

/** The last window counts by the share of it that is still inside the sliding one. */
function hitCounters(state: CounterState, { limit, windowMs }: WindowLimit, now: number, count: boolean): Hit {
  const present = Math.floor(now / windowMs);
  // A shorter window's number is larger: the limit was edited since. What it counted is taken to lie in the present longer one, which would otherwise never end.
  if (state.window > present + 1) {
    state.current += state.previous;
    state.previous = 0;
    state.window = present;
  }
  const window = Math.max(state.window, present);
  if (window !== state.window) {
    state.previous = window === state.window + 1 ? state.current : 0;
    state.current = 0;
    state.window = window;
  }
  const elapsed = Math.max(0, now - window * windowMs);
  const free = limit - state.current - 1;
  const weighted = state.previous * (windowMs - elapsed);
  const used = state.current + Math.floor(weighted / windowMs);
  if (weighted <= free * windowMs) {
    if (count) state.current++;
    return { allowed: true, used: used + (count ? 1 : 0), retryMs: 0 };
  }
  const inThis = state.previous > 0 && free >= 0 ? Math.ceil(windowMs - (free * windowMs) / state.previous) - elapsed : null;
  const inNext = windowMs - elapsed + Math.max(0, Math.ceil(windowMs - ((limit - 1) * windowMs) / Math.max(1, state.current)));
  return { allowed: false, used, retryMs: Math.max(1, inThis ?? inNext) };
}
