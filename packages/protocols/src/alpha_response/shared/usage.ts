/** Token counts: this wire counts cached tokens inside the prompt and reasoning inside the output; ours are disjoint. */
import { inputTokensOf, outputTokensOf, type Usage } from '@model-gateway/contracts';
import { asCount, asObject, own } from '../../kit/read.ts';
import { splitSoundIn, splitSoundOut } from '../../kit/sound-tokens.ts';
import type { WireUsage } from './wire.ts';

/** null when the reply held no usage. */
export function readUsage(value: unknown): Usage | null {
  const usage = asObject(value);
  if (!usage) return null;
  const details = own(usage, 'input_tokens_details');
  const writtenDetails = own(usage, 'output_tokens_details');
  const prompt = asCount(own(usage, 'input_tokens'));
  const cacheRead = Math.min(prompt, asCount(own(details, 'cached_tokens')));
  const cacheWrite = Math.min(prompt - cacheRead, asCount(own(details, 'cache_write_tokens')));
  // Of the two lifetimes the longer one is priced as the longer one of others.
  const lifetimes = own(details, 'cache_write_tokens_details');
  const cacheWrite1h = Math.min(cacheWrite, asCount(own(lifetimes, 'ttl_12h_tokens')));
  const written = asCount(own(usage, 'output_tokens'));
  const reasoning = asCount(own(writtenDetails, 'reasoning_tokens'));
  return {
    ...splitSoundIn(prompt - cacheRead - cacheWrite, asCount(own(details, 'audio_tokens'))),
    cacheRead,
    cacheWrite5m: cacheWrite - cacheWrite1h,
    cacheWrite1h,
    // Some compatible servers count reasoning beside the output; then it exceeds it, or nothing may be taken away.
    ...splitSoundOut(reasoning > written ? written : written - reasoning, asCount(own(writtenDetails, 'audio_tokens'))),
    reasoning,
  };
}

export function writeUsage(usage: Usage): WireUsage {
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  const input = inputTokensOf(usage);
  const output = outputTokensOf(usage);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }),
      ...(usage.cacheWrite1h > 0 && { cache_write_tokens_details: { ttl_30m_tokens: usage.cacheWrite5m, ttl_12h_tokens: usage.cacheWrite1h } }),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
  };
}
