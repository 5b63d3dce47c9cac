/** Speech and transcriptions in the shape of `/v1/audio`: https://platform.openai.com/docs/api-reference/audio */
import { noUsage, type Operation, type Usage } from '@model-gateway/contracts';
import type { BytesContext, BytesObserver } from '../../contract/index.ts';
import { asCount, asNumber, asString, own } from '../../kit/read.ts';

export const isAudioOperation = (operation: Operation | undefined): boolean =>
  operation === 'speech' || operation === 'transcribe' || operation === 'translate-speech';

/** Characters to a token of text. */
const charactersPerToken = 4;

/** Tokens, or whole seconds, of a transcription or of a stream's last event; older models give the duration of the audio alone. null: the body has no figures. */
export function readAudioUsage(body: unknown): Usage | null {
  const type = asString(own(body, 'type'));
  const usage = own(body, 'usage');
  if (type === 'speech.audio.done') return { ...noUsage, input: asCount(own(usage, 'input_tokens')), audioOutput: asCount(own(usage, 'output_tokens')) };
  const seconds = asNumber(own(usage, 'seconds'));
  if (own(usage, 'type') === 'duration' && seconds !== undefined) return { ...noUsage, seconds: Math.ceil(seconds) };
  if (own(usage, 'type') === 'tokens') return readTokens(usage);
  const duration = asNumber(own(body, 'duration'));
  return duration !== undefined && asString(own(body, 'text')) !== undefined ? { ...noUsage, seconds: Math.ceil(duration) } : null;
}

function readTokens(usage: unknown): Usage {
  const audioInput = asCount(own(own(usage, 'input_token_details'), 'audio_tokens'));
  const input = Math.max(0, asCount(own(usage, 'input_tokens')) - audioInput);
  return { ...noUsage, input, output: asCount(own(usage, 'output_tokens')), ...(audioInput > 0 && { audioInput }) };
}

/** Such streams end with this event; what follows it, if anything, is a terminator. */
export const isAudioEnd = (event: unknown): boolean => /^(?:speech\.audio|transcript\.text)\.done$/.test(asString(own(event, 'type')) ?? '');

/** Audio holds no figures: the characters of the request are counted, and its tokens estimated. */
export function observeSpeech({ operation, requestValue }: BytesContext): BytesObserver | null {
  if (operation !== 'speech') return null;
  const text = asString(requestValue('input')) ?? '';
  const characters = [...text].length;
  return { push() {}, finish: () => ({ usage: { ...noUsage, input: Math.ceil(characters / charactersPerToken), characters }, estimated: true }) };
}
