/** Speech as it comes, for callers of `/v1/audio/speech`: its bytes, or events that hold them. */
import type { StreamForm, Usage } from '@model-gateway/contracts';
import type { SpeechFormat, SpeechPiece, SpeechRequest, UnaryReplyContext, UnaryStreamWriter } from '../../contract/index.ts';
import { isPcm, rateOf, readWave, waveHead } from '../../kit/wave.ts';

/** Of audio in one event. */
const eventBytes = 48 * 1024;

/**
 * Samples get the head of a WAVE file of unknown length where they were not asked for alone: the vendor's own streams have it, too. As with whole replies,
 * nothing is ever called what it is not.
 */
export class SpeechWriter implements UnaryStreamWriter<SpeechPiece> {
  readonly #format: SpeechFormat | undefined;
  readonly #events: boolean;
  #type: string | undefined;

  constructor({ format }: SpeechRequest, form: StreamForm) {
    this.#format = format;
    this.#events = form === 'sse';
  }

  get contentType(): string | undefined {
    return this.#events ? undefined : this.#type;
  }

  write({ data, mimeType }: SpeechPiece): string | Uint8Array {
    const bytes = Buffer.from(data, 'base64');
    const audio = this.#type === undefined ? this.#begin(bytes, mimeType) : bytes;
    return this.#events ? writeDeltas(audio) : audio;
  }

  end({ usage }: UnaryReplyContext): string {
    return this.#events ? writeDone(usage) : '';
  }

  /** Some upstreams call it samples when a file begins. */
  #begin(bytes: Buffer, mimeType: string): Buffer {
    const samples = readWave(bytes);
    if (!samples && !isPcm(mimeType)) {
      this.#type = mimeType;
      return bytes;
    }
    const alone = this.#format === 'pcm';
    this.#type = alone ? 'audio/pcm' : 'audio/wav';
    if (samples) return alone ? samples : bytes;
    return alone ? bytes : Buffer.concat([waveHead(rateOf(mimeType)), bytes]);
  }
}

/** In events of a bounded size. */
export function writeDeltas(audio: Buffer): string {
  let events = '';
  for (let at = 0; at < audio.length; at += eventBytes)
    events += writeEvent({ type: 'speech.audio.delta', audio: audio.subarray(at, at + eventBytes).toString('base64') });
  return events;
}

/** The last event. */
export function writeDone(usage: Usage | null): string {
  if (!usage) return writeEvent({ type: 'speech.audio.done' });
  const { input, output, audioOutput = 0 } = usage;
  const written = output + audioOutput;
  return writeEvent({ type: 'speech.audio.done', usage: { input_tokens: input, output_tokens: written, total_tokens: input + written } });
}

export const writeEvent = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;
