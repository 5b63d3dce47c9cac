/** Token counts: on this wire `input_tokens` leaves both cache buckets out, and `output_tokens` includes thinking. */
import type { Usage } from '@model-gateway/contracts';
import { asCount, asObject, type JsonObject, own } from '../kit/read.ts';
import type { WireUsage } from './wire.ts';

/** Counts are cumulative: a later report replaces the fields it names and leaves the others, never adds. */
export function mergeUsage(earlier: JsonObject, report: unknown): JsonObject {
  const merged: JsonObject = Object.assign(Object.create(null) as JsonObject, earlier);
  for (const [field, value] of Object.entries(asObject(report) ?? {})) {
    if (value !== null && field !== '__proto__') merged[field] = value;
  }
  return merged;
}

export function readUsage(report: unknown): Usage {
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
  input_tokens: usage.input,
  cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
  cache_read_input_tokens: usage.cacheRead,
  cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite5m, ephemeral_1h_input_tokens: usage.cacheWrite1h },
  output_tokens: usage.output + usage.reasoning,
  ...(usage.reasoning > 0 && { output_tokens_details: { thinking_tokens: usage.reasoning } }),
});
