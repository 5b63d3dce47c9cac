/** Usage of a response: vendors count sound and cached tokens inside the totals, the gateway beside them. One vendor spells `tokens` in the details' names. */
import { noUsage, type Usage } from '@model-gateway/contracts';
import { asCount, asNumber, asObject, own } from '../kit/read.ts';

/** Of a transcript: by tokens, or by the length of the sound. */
export function readTranscriptUsage(value: unknown): Usage | null {
  const seconds = own(value, 'type') === 'duration' ? asNumber(own(value, 'seconds')) : undefined;
  return seconds === undefined ? readUsage(value) : { ...noUsage, seconds: Math.ceil(Math.max(0, seconds)) };
}

/** null: the response says nothing of it. */
export function readUsage(value: unknown): Usage | null {
  const usage = asObject(value);
  if (!usage) return null;
  const inputs = own(usage, 'input_token_details') ?? own(usage, 'input_tokens_details');
  const outputs = own(usage, 'output_token_details') ?? own(usage, 'output_tokens_details');
  const cached = asCount(own(inputs, 'cached_tokens'));
  const cachedAudio = Math.min(cached, asCount(own(own(inputs, 'cached_tokens_details'), 'audio_tokens')));
  const audioInput = Math.max(0, asCount(own(inputs, 'audio_tokens')) - cachedAudio);
  const audioOutput = asCount(own(outputs, 'audio_tokens'));
  return {
    ...noUsage,
    input: Math.max(0, asCount(own(usage, 'input_tokens')) - cached - audioInput),
    cacheRead: cached,
    output: Math.max(0, asCount(own(usage, 'output_tokens')) - audioOutput),
    audioInput,
    audioOutput,
  };
}
