/** `prompt_cache_breakpoint` and `prompt_cache_options`, which chat completions and Responses have alike. */
import type { CacheMark, Conversation } from '../../chat/conversation.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asObject, type JsonObject, own } from '../../kit/read.ts';
import { markFor } from './cache-mark.ts';

type Lifetime = NonNullable<CacheMark['openaiTtl']>;

interface Breakpoint {
  mode: 'explicit';
  ttl?: Lifetime;
}

const lifetimes: Readonly<Record<NonNullable<CacheMark['ttl']>, Lifetime>> = { '5m': '30m', '1h': '12h' };

/** The field of a part that carries a mark; {} of one that does not. */
export function writeBreakpoint(mark: CacheMark | undefined): { prompt_cache_breakpoint?: Breakpoint } {
  if (!mark) return {};
  const ttl = mark.openaiTtl ?? (mark.ttl === undefined ? undefined : lifetimes[mark.ttl]);
  return { prompt_cache_breakpoint: { mode: 'explicit', ...(ttl !== undefined && { ttl }) } };
}

const maxBreakpoints = 4;

/**
 * The `prompt_cache_options` that go with the breakpoints in `messages` (items of `input` likewise), of which the last four stay: a later one covers all
 * before it. Undefined where there is nothing to say. The lifetime moves from the breakpoints to the options where it is the same for all. Marks of
 * other protocols are all the caller wants cached; a caller that has breakpoints itself says whether the vendor may add its own, which is the default.
 */
export function settleBreakpoints(messages: readonly unknown[], max: Lifetime, mode: Conversation['cacheMode'], losses: Losses): JsonObject | undefined {
  const marked = messages.flatMap((message) =>
    (asArray(own(message, 'content')) ?? asArray(own(message, 'output')) ?? []).filter((part) => own(part, 'prompt_cache_breakpoint') !== undefined),
  ) as { prompt_cache_breakpoint?: Breakpoint }[];
  if (marked.length === 0) return undefined;
  const spare = marked.splice(0, Math.max(0, marked.length - maxBreakpoints));
  for (const part of spare) delete part.prompt_cache_breakpoint;
  if (spare.length > 0) losses.dropped('cache_control', 'At most four cache breakpoints are taken; the earliest were left out.');
  const breakpoints = marked.flatMap((part) => part.prompt_cache_breakpoint ?? []);
  for (const breakpoint of breakpoints) {
    if (breakpoint.ttl !== '12h' || max === '12h') continue;
    breakpoint.ttl = max;
    losses.add('cache_control.ttl', 'downgraded', 'Chat completions keep a cache for half an hour.');
  }
  const ttl = breakpoints.some((breakpoint) => breakpoint.ttl === '12h') ? '12h' : breakpoints.find((breakpoint) => breakpoint.ttl)?.ttl;
  for (const breakpoint of breakpoints) {
    if (breakpoint.ttl === ttl) delete breakpoint.ttl;
    else if (ttl === '12h') breakpoint.ttl = '30m';
  }
  const options = { ...(mode !== 'implicit' && { mode: 'explicit' }), ...(ttl !== undefined && { ttl }) };
  return Object.keys(options).length === 0 ? undefined : options;
}

/**
 * What a caller's `prompt_cache_options` say: a lifetime holds for every breakpoint that names none, and what other protocols have no place for is a loss.
 * `mode` says nothing to other vendors beside breakpoints, which are marks anyway; without any, `explicit` asks for no cache at all.
 */
export function readCacheOptions(source: JsonObject, conversation: Conversation, losses: Losses): void {
  const options = asObject(own(source, 'prompt_cache_options'));
  if (options || holdsBreakpoint(source)) conversation.cacheMode = own(options, 'mode') === 'explicit' ? 'explicit' : 'implicit';
  if (!options) return;
  const ttl = own(options, 'ttl');
  const holders = [...markHolders(conversation)].filter((holder) => holder.cache !== undefined);
  for (const holder of holders) if (holder.cache?.ttl === undefined) holder.cache = markFor(ttl);
  if (holders.length === 0 && own(options, 'mode') === 'explicit')
    losses.dropped('prompt_cache_options.mode', 'Elsewhere a vendor that caches by itself cannot be told not to.');
  if (holders.length === 0 && ttl !== undefined) losses.dropped('prompt_cache_options.ttl', 'Only what is marked has a lifetime elsewhere.');
  if (own(options, 'prewarm') === true) {
    // 0 asks Claude for a warm cache alone; for models that must write something it is raised to the least that they take.
    conversation.sampling.maxTokens = 0;
    losses.add('prompt_cache_options.prewarm', 'emulated', 'The cache is filled by asking for the shortest reply.');
  }
  const compared = own(options, 'comparison_response_id');
  if (compared !== undefined && compared !== null)
    losses.dropped('prompt_cache_options.comparison_response_id', 'Diagnostics of the cache compare replies that only their vendor has.');
  losses.unread('prompt_cache_options', options, known);
}

/** Whether a caller set a breakpoint in its own words; `cache_control`, which some clients write here, is a mark of another protocol. */
function holdsBreakpoint(source: JsonObject): boolean {
  const isMarked = (value: unknown): boolean => (own(value, 'prompt_cache_breakpoint') ?? null) !== null;
  const messages = asArray(own(source, 'messages')) ?? asArray(own(source, 'input')) ?? [];
  return (
    (asArray(own(source, 'tools')) ?? []).some(isMarked) ||
    messages.some((message) => (asArray(own(message, 'content')) ?? asArray(own(message, 'output')) ?? []).some(isMarked))
  );
}

const known: ReadonlySet<string> = new Set(['mode', 'ttl', 'prewarm', 'comparison_response_id']);

function* markHolders({ system, turns, tools }: Conversation): Generator<{ cache?: CacheMark }> {
  yield* tools;
  yield* system;
  for (const turn of turns) {
    for (const part of turn.parts) {
      if (part.type === 'tool-result') yield* part.content;
      if (part.type !== 'thinking' && part.type !== 'refusal') yield part;
    }
  }
}
