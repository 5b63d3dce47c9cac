/** Sound of realtime sessions: 16-bit samples in base64, out of a microphone and to the speakers. */

/** Vendors answer at this rate whatever they are sent. */
const playedRate = 24_000;
const recordedSamples = 4096;

function toBase64(samples: Float32Array): string {
  const bytes = new Uint8Array(samples.length * 2);
  const view = new DataView(bytes.buffer);
  for (const [at, sample] of samples.entries()) view.setInt16(at * 2, Math.max(-1, Math.min(1, sample)) * 0x7fff, true);
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x2000) text += String.fromCharCode(...bytes.subarray(at, at + 0x2000));
  return btoa(text);
}

function fromBase64(text: string): Float32Array<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length >> 1 }, (_, at) => view.getInt16(at * 2, true) / 0x8000);
}

/** A microphone that is on. */
export interface Recording {
  stop(): void;
}

/**
 * Asks for the microphone, and gives its sound piece by piece. `rate`: samples a second. Rejects where there is none, or it may not be used. A script
 * processor rather than a worklet: the page's policy loads no script that is not a file of the console, and a test needs no more.
 */
export async function record(rate: number, onPiece: (base64: string) => void): Promise<Recording> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, echoCancellation: true } });
  const context = new AudioContext({ sampleRate: rate });
  const source = context.createMediaStreamSource(stream);
  const processor = context.createScriptProcessor(recordedSamples, 1, 1);
  processor.onaudioprocess = ({ inputBuffer }) => onPiece(toBase64(inputBuffer.getChannelData(0)));
  source.connect(processor);
  // It runs only where it leads somewhere; what it gives out is silence.
  processor.connect(context.destination);
  return {
    stop() {
      // A piece may be on its way already: after the end it is no one's.
      processor.onaudioprocess = null;
      processor.disconnect();
      source.disconnect();
      for (const track of stream.getTracks()) track.stop();
      void context.close();
    },
  };
}

/** Plays pieces one after the other. */
export class Speaker {
  #context: AudioContext | null = null;
  #until = 0;
  /** Seconds that were played, or will be. */
  seconds = 0;

  play(base64: string): void {
    const samples = fromBase64(base64);
    if (samples.length === 0) return;
    this.#context ??= new AudioContext({ sampleRate: playedRate });
    const buffer = this.#context.createBuffer(1, samples.length, playedRate);
    buffer.copyToChannel(samples, 0);
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#context.destination);
    this.#until = Math.max(this.#until, this.#context.currentTime);
    source.start(this.#until);
    this.#until += buffer.duration;
    this.seconds += buffer.duration;
  }

  close(): void {
    void this.#context?.close();
    this.#context = null;
    this.#until = 0;
  }
}
