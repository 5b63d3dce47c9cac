import type { Usage } from '@model-gateway/contracts';
import { asCount, own } from '../kit/read.ts';
import type { WireUsage } from './wire.ts';

/**
 * Vendor counts → disjoint buckets. `prompt_tokens` includes what was read from a cache; reasoning is normally inside `completion_tokens`, but
 * some vendors leave it out and only `total_tokens` shows it. Undefined when `value` holds no counts.
 */
export function readUsage(value: unknown): Usage | undefined {
  const prompt = asCount(own(value, 'prompt_tokens') ?? own(value, 'input_tokens'));
  const completion = asCount(own(value, 'completion_tokens') ?? own(value, 'output_tokens'));
  const total = asCount(own(value, 'total_tokens'));
  if (prompt + completion + total === 0) return undefined;
  const promptDetails = own(value, 'prompt_tokens_details') ?? own(value, 'input_tokens_details');
  const cacheRead = asCount(
    own(promptDetails, 'cached_tokens') ?? own(value, 'prompt_cache_hit_tokens') ?? own(value, 'cached_tokens') ?? own(value, 'cache_read_input_tokens'),
  );
  const cacheWrite = asCount(
    own(promptDetails, 'cache_write_tokens') ?? own(promptDetails, 'cache_creation_tokens') ?? own(value, 'cache_creation_input_tokens'),
  );
  const cached = cacheRead + cacheWrite;
  return {
    input: cached <= prompt ? prompt - cached : prompt,
    cacheRead,
    cacheWrite5m: cacheWrite,
    cacheWrite1h: 0,
    ...splitOutput(completion, total - prompt - completion, readReasoningTokens(value)),
  };
}

const readReasoningTokens = (value: unknown): number =>
  asCount(own(own(value, 'completion_tokens_details') ?? own(value, 'output_tokens_details'), 'reasoning_tokens') ?? own(value, 'reasoning_tokens'));

/** `beyond`: what the total holds over prompt and completion. */
function splitOutput(completion: number, beyond: number, reasoning: number): Pick<Usage, 'output' | 'reasoning'> {
  if (beyond > 0 && (reasoning === 0 || reasoning === beyond)) return { output: completion, reasoning: beyond };
  if (reasoning > completion) return { output: completion, reasoning };
  return { output: completion - reasoning, reasoning };
}

/** Disjoint buckets → totals that include their details. */
export function writeUsage(usage: Usage): WireUsage {
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  const prompt = usage.input + usage.cacheRead + cacheWrite;
  const completion = usage.output + usage.reasoning;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, audio_tokens: 0, ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }) },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
