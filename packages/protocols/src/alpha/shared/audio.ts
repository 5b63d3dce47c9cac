/** Speech and transcriptions in the shape of `/v1/audio`: https://platform.openai.com/docs/api-reference/audio */
import { noUsage, type Operation, type Usage } from '@model-gateway/contracts';
import type { BytesContext, BytesObserver } from '../../contract/index.ts';
import { asCount, asNumber, asString, own } from '../../kit/read.ts';
import { tokensOfText } from '../../kit/written-tokens.ts';
import { readUsage } from './usage.ts';

export const isAudioOperation = (operation: Operation | undefined): boolean =>
  operation === 'speech' || operation === 'transcribe' || operation === 'translate-speech';

/** Of UTF-8, spoken at an ordinary pace: fifteen Latin letters, or five Chinese characters. */
const spokenBytesPerSecond = 15;
/** The words of days. What an upstream sends beyond it passes, and is not kept. */
const maxTranscriptBytes = 8 * 1024 * 1024;

/** Tokens, or whole seconds, of a transcription or of a stream's last event; older models give the duration of the audio alone. null: the body has no figures. */
export function readAudioUsage(body: unknown): Usage | null {
  const type = asString(own(body, 'type'));
  const usage = own(body, 'usage');
  if (type === 'speech.audio.done') return { ...noUsage, input: asCount(own(usage, 'input_tokens')), audioOutput: asCount(own(usage, 'output_tokens')) };
  const seconds = asNumber(own(usage, 'seconds'));
  if (own(usage, 'type') === 'duration' && seconds !== undefined) return { ...noUsage, seconds: Math.ceil(seconds) };
  if (own(usage, 'type') === 'tokens') return readTokens(usage);
  // Of Voxtral, whose names are those of chat completions: https://docs.mistral.ai/studio/audio/overview
  const audioSeconds = asNumber(own(usage, 'prompt_audio_seconds'));
  // Of vLLM, whose streams are those of chat completions: https://github.com/vllm-project/vllm/issues/49116
  if (own(body, 'object') === 'transcription.chunk') return readUsage(usage) ?? null;
  if (audioSeconds !== undefined) return { ...(readUsage(usage) ?? noUsage), seconds: Math.ceil(audioSeconds) };
  const duration = asNumber(own(body, 'duration'));
  return duration !== undefined && asString(own(body, 'text')) !== undefined ? { ...noUsage, seconds: Math.ceil(duration) } : null;
}

function readTokens(usage: unknown): Usage {
  const audioInput = asCount(own(own(usage, 'input_token_details'), 'audio_tokens'));
  const input = Math.max(0, asCount(own(usage, 'input_tokens')) - audioInput);
  return { ...noUsage, input, output: asCount(own(usage, 'output_tokens')), ...(audioInput > 0 && { audioInput }) };
}

/** Such streams end with one of these events, the last of which is Mistral's; what follows it, if anything, is a terminator. */
export const audioEnds = ['speech.audio.done', 'transcript.text.done', 'transcription.done'] as const;

export const isAudioEnd = (event: unknown): boolean => (audioEnds as readonly string[]).includes(asString(own(event, 'type')) ?? '');

/** Audio holds no figures, and not every transcript does. */
export function observeAudio(context: BytesContext): BytesObserver | null {
  if (context.operation === 'speech') return observeSpeech(context);
  return isAudioOperation(context.operation) ? observeTranscript(context) : null;
}

/** The characters of the request are counted, and its tokens estimated. */
function observeSpeech({ requestValue }: BytesContext): BytesObserver {
  const text = asString(requestValue('input')) ?? '';
  const characters = [...text].length;
  return { push() {}, finish: () => ({ usage: { ...noUsage, input: Math.ceil(tokensOfText(text)), characters }, estimated: true }) };
}

/** Subtitles end when the sound does, or a little before; of a bare text only its length is known. */
function observeTranscript({ contentType, requestTokens }: BytesContext): BytesObserver {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    push(chunk) {
      if (size < maxTranscriptBytes) chunks.push(chunk);
      size += chunk.length;
    },
    finish() {
      const body = Buffer.concat(chunks).toString('utf8');
      const text = /json/i.test(contentType) ? textOf(body) : body;
      const seconds = Math.ceil(endOfSubtitles(text) ?? Buffer.byteLength(text) / spokenBytesPerSecond);
      return { usage: { ...noUsage, input: requestTokens(), output: Math.ceil(tokensOfText(text)), seconds }, estimated: true };
    },
  };
}

/** Of JSON; empty where the body broke off. */
function textOf(body: string): string {
  try {
    return asString(own(JSON.parse(body), 'text')) ?? '';
  } catch {
    return '';
  }
}

/** In seconds; undefined: they are not subtitles. Both formats have lines such as `00:00:01,000 --> 00:00:04,500`, one without the hours. */
function endOfSubtitles(text: string): number | undefined {
  const last = [...text.matchAll(/-->\s*(?:(\d+):)?(\d{1,2}):(\d{2}[.,]\d{1,3})/g)].at(-1);
  if (!last) return undefined;
  const [, hours = '0', minutes = '0', seconds = '0'] = last;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds.replace(',', '.'));
}
