/** What happened in a session, read from its rows: turns in their order, with what each did to the cache, where it went and what it cost. */
import type { LogRow } from '../../api/stats.ts';

/** One request of a session. */
export interface Turn {
  row: LogRow;
  /** Milliseconds since the session began. */
  at: number;
  /** Since the turn before ended; negative while they ran side by side. */
  pauseMs: number | null;
  /** Input tokens that an earlier turn had in the cache and this one paid anew; 0: none. */
  cacheLost: number;
  /** Upstreams that failed before the one that answered. */
  failedOver: string[];
  failed: boolean;
}

/** What a session comes to. */
export interface Story {
  turns: Turn[];
  from: number;
  to: number;
  failovers: number;
  failures: number;
  /** How often the cache was lost, and the tokens that were paid anew for it. */
  cacheLosses: number;
  cacheLostTokens: number;
  tools: number;
  /** By currency, micro-units. */
  cost: Map<string, number>;
}

/** Less is not kept by any vendor. */
const minCached = 1024;

const promptOf = ({ input_tokens, cache_read_tokens, cache_write_tokens }: LogRow): number => input_tokens + cache_read_tokens + cache_write_tokens;

/** `rows` in any order. */
export function readStory(rows: readonly LogRow[]): Story {
  const ordered = [...rows].sort((one, other) => one.started_at - other.started_at || (one.id < other.id ? -1 : 1));
  const from = ordered[0]?.started_at ?? 0;
  /** Of each model: what its last turn left in the cache. A session may use a small model between turns of the main one. */
  const kept = new Map<string, number>();
  let ended: number | null = null;
  const turns = ordered.map((row): Turn => {
    const turn = {
      row,
      at: row.started_at - from,
      pauseMs: ended === null ? null : row.started_at - ended,
      cacheLost: cacheLostBy(row, kept),
      failedOver: failedOverOf(row),
      failed: row.error_code !== null || row.status >= 400,
    };
    ended = Math.max(ended ?? 0, row.started_at + row.duration_ms);
    return turn;
  });
  const cost = new Map<string, number>();
  for (const { cost_micros, currency } of ordered) if (cost_micros !== null && currency) cost.set(currency, (cost.get(currency) ?? 0) + cost_micros);
  const lost = turns.filter(({ cacheLost }) => cacheLost > 0);
  return {
    turns,
    from,
    to: ended ?? from,
    failovers: turns.filter(({ failedOver }) => failedOver.length > 0).length,
    failures: turns.filter(({ failed }) => failed).length,
    cacheLosses: lost.length,
    cacheLostTokens: lost.reduce((sum, { cacheLost }) => sum + cacheLost, 0),
    tools: ordered.filter(({ kind }) => kind === 'mcp_call').length,
    cost,
  };
}

/** What the model's last turn had read from or written to the cache should be read again: what is missing of it was paid anew, as far as the prompt still holds so much. */
function cacheLostBy(row: LogRow, kept: Map<string, number>): number {
  const place = `${row.model ?? ''} ${row.access_key ?? ''}`;
  const cached = row.cache_read_tokens + row.cache_write_tokens;
  const before = kept.get(place) ?? 0;
  // A failed turn tells nothing, and what has no tokens is no turn of a model.
  if (row.status >= 400 || promptOf(row) === 0) return 0;
  // A short call beside the conversation, such as one for a title, is no turn of it.
  const expected = Math.min(before, promptOf(row));
  if (promptOf(row) >= before / 2) kept.set(place, cached);
  const missing = expected - row.cache_read_tokens;
  return before >= minCached && promptOf(row) >= before / 2 && missing >= minCached && row.cache_read_tokens < before / 2 ? missing : 0;
}

const failedOverOf = ({ attempts }: LogRow): string[] =>
  attempts.length < 2 ? [] : [...new Set(attempts.slice(0, -1).flatMap(({ upstream, error_code }) => (error_code === null ? [] : [upstream])))];

/** Where a turn lies on a line on which long pauses are cut to `maxPauseMs`: shares of 1. */
export function layOut(turns: readonly Turn[], maxPauseMs = 30_000): { left: number; width: number; cut: boolean }[] {
  let shift = 0;
  const placed = turns.map(({ at, pauseMs, row }) => {
    const cut = pauseMs !== null && pauseMs > maxPauseMs;
    if (cut) shift += pauseMs - maxPauseMs;
    return { start: at - shift, ms: row.duration_ms, cut };
  });
  const whole = Math.max(1, ...placed.map(({ start, ms }) => start + ms));
  return placed.map(({ start, ms, cut }) => ({ left: start / whole, width: ms / whole, cut }));
}
