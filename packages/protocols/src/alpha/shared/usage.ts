import { inputTokensOf, outputTokensOf, type Usage } from '@model-gateway/contracts';
import { asCount, own } from '../../kit/read.ts';
import { splitSoundIn, splitSoundOut } from '../../kit/sound-tokens.ts';
import type { WireUsage } from './wire.ts';

/**
 * Vendor counts → disjoint buckets. `prompt_tokens` normally includes what was read from a cache and `completion_tokens` reasoning, but some vendors
 * leave either out and only `total_tokens` shows it. Both include tokens of sound. Undefined when `value` holds no counts.
 */
export function readUsage(value: unknown): Usage | undefined {
  const promptTokens = asCount(own(value, 'prompt_tokens') ?? own(value, 'input_tokens'));
  const completion = asCount(own(value, 'completion_tokens') ?? own(value, 'output_tokens'));
  const total = asCount(own(value, 'total_tokens'));
  // Voxtral counts tokens of sound beside the prompt, in the total alone.
  const soundBeside = own(value, 'prompt_audio_seconds') === undefined ? 0 : Math.max(0, total - promptTokens - completion);
  const prompt = promptTokens + soundBeside;
  if (prompt + completion + total === 0) return undefined;
  const promptDetails = own(value, 'prompt_tokens_details') ?? own(value, 'input_tokens_details') ?? own(value, 'prompt_token_details');
  const saidRead = asCount(
    own(promptDetails, 'cached_tokens') ??
      own(value, 'prompt_cache_hit_tokens') ??
      own(value, 'cached_tokens') ??
      own(value, 'cache_read_input_tokens') ??
      own(value, 'num_cached_tokens'),
  );
  const saidWritten = asCount(
    own(promptDetails, 'cache_write_tokens') ??
      own(promptDetails, 'cache_creation_tokens') ??
      own(promptDetails, 'cache_creation_input_tokens') ??
      own(value, 'cache_creation_input_tokens'),
  );
  const reasoning = readReasoningTokens(value);
  const cached = saidRead + saidWritten;
  const beyond = total - prompt - completion;
  // More cached than there was prompt: either the prompt leaves the cache out, or, where the total has no room for that, the cache is overstated.
  const beside = cached > prompt && (total === 0 || (beyond !== 0 && beyond !== reasoning));
  const cacheRead = beside ? saidRead : Math.min(saidRead, prompt);
  const cacheWrite = beside ? saidWritten : Math.min(saidWritten, prompt - cacheRead);
  // Of the two lifetimes the longer one is priced as the longer one of others.
  const cacheWrite1h = Math.min(cacheWrite, asCount(own(own(promptDetails, 'cache_write_tokens_details'), 'ttl_12h_tokens')));
  return {
    ...splitSoundIn(beside ? prompt : prompt - cacheRead - cacheWrite, Math.max(soundBeside, readSound(promptDetails))),
    cacheRead,
    cacheWrite5m: cacheWrite - cacheWrite1h,
    cacheWrite1h,
    ...splitOutput(completion, beside ? beyond - cached : beyond, reasoning, readSound(completionDetailsOf(value))),
  };
}

/** Of the answers to `POST /v1/decisions`, which are counted as conversations are; null: the body holds none. */
export const readDecisionUsage = (body: unknown): Usage | null => (Array.isArray(own(body, 'answers')) ? (readUsage(own(body, 'usage')) ?? null) : null);

/** Of the tokens of sound those that no cache held, as far as the vendor says. */
const readSound = (details: unknown): number =>
  Math.max(0, asCount(own(details, 'audio_tokens')) - asCount(own(own(details, 'cached_tokens_details'), 'audio_tokens')));

const completionDetailsOf = (value: unknown): unknown => own(value, 'completion_tokens_details') ?? own(value, 'output_tokens_details');

const readReasoningTokens = (value: unknown): number => asCount(own(completionDetailsOf(value), 'reasoning_tokens') ?? own(value, 'reasoning_tokens'));

/** `beyond`: what the total holds over prompt, what was cached beside it, and completion. */
function splitOutput(completion: number, beyond: number, reasoning: number, sound: number): Pick<Usage, 'output' | 'reasoning' | 'audioOutput'> {
  if (beyond > 0 && (reasoning === 0 || reasoning === beyond)) return { ...splitSoundOut(completion, sound), reasoning: beyond };
  return { ...splitSoundOut(reasoning > completion ? completion : completion - reasoning, sound), reasoning };
}

/** Disjoint buckets → totals that include their details. */
export function writeUsage(usage: Usage): WireUsage {
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  const { audioInput = 0, audioOutput = 0 } = usage;
  const prompt = inputTokensOf(usage);
  const completion = outputTokensOf(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, audio_tokens: audioInput, ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }) },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: audioOutput,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
