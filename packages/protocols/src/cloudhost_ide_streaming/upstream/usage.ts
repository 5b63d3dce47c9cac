import { noUsage, type Usage } from '@model-gateway/contracts';
import { asCount, asNumber, own } from '../../kit/read.ts';

/** `tokenUsage` of a metadata event; its input buckets are disjoint already. Undefined when it counts nothing. */
export function readUsage(value: unknown): Usage | undefined {
  const usage: Usage = {
    ...noUsage,
    input: asCount(own(value, 'uncachedInputTokens')),
    cacheRead: asCount(own(value, 'cacheReadInputTokens')),
    cacheWrite5m: asCount(own(value, 'cacheWriteInputTokens')),
    output: asCount(own(value, 'outputTokens')),
  };
  return usage.input + usage.cacheRead + usage.cacheWrite5m + usage.output === 0 ? undefined : usage;
}

/** What the share of the context that is full, and the tokens of what was said, let one guess. Undefined without a known window. */
export function estimateUsage(percentage: unknown, window: number | null | undefined, said: { output: number; reasoning: number }): Usage | undefined {
  const share = asNumber(percentage);
  if (share === undefined || share <= 0 || share > 100 || !window) return undefined;
  const output = Math.ceil(said.output);
  const reasoning = Math.ceil(said.reasoning);
  return { ...noUsage, input: Math.max(1, Math.round((share / 100) * window) - output - reasoning), output, reasoning };
}
