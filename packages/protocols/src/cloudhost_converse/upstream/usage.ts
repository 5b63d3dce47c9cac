/** Token counts: on this wire `inputTokens` leaves both cache buckets out, so the buckets are disjoint as they come. */
import type { Usage } from '@model-gateway/contracts';
import { asArray, asCount, own } from '../../kit/read.ts';

/** Cache counts come under two names, `cacheReadInputTokens` and `…TokenCount`; `cacheDetails` splits what was written by its lifetime. */
export function readUsage(report: unknown): Usage {
  const either = (name: string): number => asCount(own(report, name) ?? own(report, `${name.slice(0, -1)}Count`));
  const written = either('cacheWriteInputTokens');
  const hourly = (asArray(own(report, 'cacheDetails')) ?? [])
    .filter((detail) => own(detail, 'ttl') === '1h')
    .reduce((sum: number, detail) => sum + asCount(own(detail, 'inputTokens')), 0);
  const cacheWrite1h = Math.min(hourly, written);
  return {
    input: asCount(own(report, 'inputTokens')),
    cacheRead: either('cacheReadInputTokens'),
    cacheWrite5m: written - cacheWrite1h,
    cacheWrite1h,
    // Reasoning is counted in the output and not told apart.
    output: asCount(own(report, 'outputTokens')),
    reasoning: 0,
  };
}
