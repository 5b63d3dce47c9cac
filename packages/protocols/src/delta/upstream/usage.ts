import { noUsage, type Usage } from '@model-gateway/contracts';
import { asCount, asNumber, asObject, type JsonObject, own } from '../../kit/read.ts';

/**
 * This wire's counts under the names of the compatible wire, whose reader splits them into buckets. `input_tokens` includes what was read from a cache,
 * `output_tokens` includes reasoning. Undefined when nothing was counted.
 */
export function toCompatibleUsage(usage: unknown): JsonObject | undefined {
  const input = asCount(own(usage, 'input_tokens'));
  const output = asCount(own(usage, 'output_tokens'));
  if (input + output === 0) return undefined;
  const details = own(usage, 'prompt_tokens_details') ?? own(usage, 'input_tokens_details');
  const written = own(usage, 'output_tokens_details');
  return {
    prompt_tokens: input,
    completion_tokens: output,
    // The vendor's own total may hold more; this one says that the cache is inside the prompt.
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: own(details, 'cached_tokens') ?? own(usage, 'cached_tokens'),
      cache_creation_tokens: own(details, 'cache_creation_input_tokens') ?? own(details, 'cache_creation_tokens'),
      audio_tokens: own(details, 'audio_tokens') ?? own(usage, 'audio_tokens'),
    },
    completion_tokens_details: { reasoning_tokens: own(written, 'reasoning_tokens'), audio_tokens: own(written, 'audio_tokens') },
  };
}

/**
 * What any answer or event of this wire used: tokens, and what is sold by the piece. A total alone is that of an input (vectors, ranks). null: it says
 * nothing.
 */
export function readUnaryUsage(body: unknown): Usage | null {
  const usage = asObject(own(body, 'usage'));
  if (!usage) return null;
  const input = asCount(own(usage, 'input_tokens'));
  const output = asCount(own(usage, 'output_tokens'));
  const images = asCount(own(usage, 'image_count'));
  const characters = asCount(own(usage, 'characters'));
  const seconds = asNumber(own(usage, 'video_duration')) ?? asNumber(own(usage, 'duration')) ?? asNumber(own(usage, 'seconds'));
  const total = input + output === 0 ? asCount(own(usage, 'total_tokens')) : 0;
  if (input + output + images + characters + total === 0 && seconds === undefined) return null;
  return {
    ...noUsage,
    input: input || total,
    output,
    ...(images > 0 && { images }),
    ...(characters > 0 && { characters }),
    ...(seconds !== undefined && seconds > 0 && { seconds: Math.ceil(seconds) }),
  };
}
