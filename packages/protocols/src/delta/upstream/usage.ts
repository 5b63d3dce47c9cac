import { asCount, type JsonObject, own } from '../../kit/read.ts';

/**
 * This wire's counts under the names of the compatible wire, whose reader splits them into buckets. `input_tokens` includes what was read from a cache,
 * `output_tokens` includes reasoning. Undefined when nothing was counted.
 */
export function toCompatibleUsage(usage: unknown): JsonObject | undefined {
  const input = asCount(own(usage, 'input_tokens'));
  const output = asCount(own(usage, 'output_tokens'));
  if (input + output === 0) return undefined;
  const details = own(usage, 'prompt_tokens_details') ?? own(usage, 'input_tokens_details');
  return {
    prompt_tokens: input,
    completion_tokens: output,
    // The vendor's own total may hold more; this one says that the cache is inside the prompt.
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: own(details, 'cached_tokens') ?? own(usage, 'cached_tokens'),
      cache_creation_tokens: own(details, 'cache_creation_input_tokens') ?? own(details, 'cache_creation_tokens'),
    },
    completion_tokens_details: { reasoning_tokens: own(own(usage, 'output_tokens_details'), 'reasoning_tokens') },
  };
}
