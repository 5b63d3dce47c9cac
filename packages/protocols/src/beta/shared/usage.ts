/** Token counts: on this wire `input_tokens` leaves both cache buckets out, and `output_tokens` includes thinking. */
import { noUsage, outputTokensOf, type TokenUsage, type Usage } from '@model-gateway/contracts';
import { asArray, asCount, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { billedTier } from '../../kit/service-tier.ts';
import { tiersRead } from './service-tiers.ts';
import type { WireUsage } from './wire.ts';

const promptCounts = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
const promptFields: ReadonlySet<string> = new Set([...promptCounts, 'cache_creation']);

const countsPrompt = (report: unknown): boolean => promptCounts.some((field) => asCount(own(report, field)) > 0);

/**
 * Counts are cumulative: a later report replaces the fields it names and leaves the others, never adds. No prompt is empty: one that counts nothing of it
 * is of a server that fills in zeros beside its output, and takes nothing back.
 */
export function mergeUsage(earlier: JsonObject, report: unknown): JsonObject {
  const merged: JsonObject = Object.assign(Object.create(null) as JsonObject, earlier);
  const keepsPrompt = countsPrompt(earlier) && !countsPrompt(report);
  for (const [field, value] of Object.entries(asObject(report) ?? {})) {
    if (value !== null && field !== '__proto__' && !(keepsPrompt && promptFields.has(field))) merged[field] = value;
  }
  return merged;
}

/** What a whole report comes to: its totals, and what its iterations used beside them. */
export function readUsage(report: unknown): Usage {
  const totals = { ...readCounts(report), ...billedTier(own(report, 'speed') === 'fast' ? 'fast' : own(report, 'service_tier'), tiersRead) };
  const iterations = readIterations(report);
  // Nearly every report has one entry, which says the totals again.
  return iterations.length === 0 ? totals : withIterations(totals, iterations);
}

/**
 * Entries of these types are billed beside the totals: the vendor's own request that summarises a conversation, and the questions that the model
 * put to an advisor.
 */
const besideTotals: ReadonlySet<string> = new Set(['compaction', 'advisor_message']);

const buckets = Object.keys(noUsage) as (keyof TokenUsage)[];

/**
 * The totals hold all other entries, except that of a turn that another model took over they hold the last part alone. A relay may have put
 * everything into the totals, so what they hold already is never added.
 */
function withIterations(totals: Usage, iterations: readonly unknown[]): Usage {
  const fellBack = readFallbackModel(iterations) !== undefined;
  const inside = { ...noUsage };
  const beside = { ...noUsage };
  for (const entry of iterations) {
    const type = asString(own(entry, 'type')) ?? '';
    const counts = readCounts(entry);
    // A model that declined before it wrote anything is not billed.
    if (fellBack && type === 'message' && counts.output + counts.reasoning === 0) continue;
    const sum = besideTotals.has(type) ? beside : inside;
    for (const bucket of buckets) sum[bucket] = asCount(sum[bucket] + counts[bucket]);
  }
  // Entries do not tell thinking apart from the rest of the output.
  inside.output = Math.max(0, inside.output + inside.reasoning - totals.reasoning);
  if (buckets.every((bucket) => bucket === 'reasoning' || totals[bucket] >= inside[bucket] + beside[bucket])) return totals;
  const billed = { ...totals };
  for (const bucket of buckets) if (bucket !== 'reasoning') billed[bucket] = asCount(Math.max(totals[bucket], inside[bucket]) + beside[bucket]);
  return billed;
}

/** The model that wrote the reply, where the vendor let another one than the requested model answer. */
export function readFallbackModel(iterations: readonly unknown[]): string | undefined {
  return asString(
    own(
      iterations.findLast((entry) => own(entry, 'type') === 'fallback_message'),
      'model',
    ),
  );
}

/** The entries of a report: one for each time that a model was asked. */
export const readIterations = (report: unknown): readonly unknown[] => asArray(own(report, 'iterations')) ?? [];

/** The counts of a report or of one of its iterations. */
function readCounts(report: unknown): Usage {
  const field = (name: string): number => asCount(own(report, name));
  const split = own(report, 'cache_creation');
  const named5m = asCount(own(split, 'ephemeral_5m_input_tokens'));
  const named1h = asCount(own(split, 'ephemeral_1h_input_tokens'));
  // The total may have been corrected after the split was reported: the total wins, what it adds is the default lifetime.
  const total = own(report, 'cache_creation_input_tokens') === undefined ? named5m + named1h : field('cache_creation_input_tokens');
  const cacheWrite1h = Math.min(named1h, total);
  const written = field('output_tokens');
  const reasoning = Math.min(asCount(own(own(report, 'output_tokens_details'), 'thinking_tokens')), written);
  return {
    input: field('input_tokens'),
    cacheRead: field('cache_read_input_tokens'),
    cacheWrite5m: total - cacheWrite1h,
    cacheWrite1h,
    output: written - reasoning,
    reasoning,
  };
}

export const writeUsage = (usage: Usage): WireUsage => ({
  input_tokens: usage.input + (usage.audioInput ?? 0),
  cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
  cache_read_input_tokens: usage.cacheRead,
  cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite5m, ephemeral_1h_input_tokens: usage.cacheWrite1h },
  output_tokens: outputTokensOf(usage),
  ...(usage.reasoning > 0 && { output_tokens_details: { thinking_tokens: usage.reasoning } }),
});

/** How often each hosted tool that was called gave a result, by its name. */
export type HostedUses = Map<string, number>;

/** Nothing where none was called. */
export const writeHostedUses = (uses: HostedUses): { server_tool_use?: { web_search_requests: number; web_fetch_requests: number } } =>
  uses.has('web_search') || uses.has('web_fetch')
    ? { server_tool_use: { web_search_requests: uses.get('web_search') ?? 0, web_fetch_requests: uses.get('web_fetch') ?? 0 } }
    : {};
