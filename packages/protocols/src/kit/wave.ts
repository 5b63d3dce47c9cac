/** Uncompressed audio: samples without a head (PCM), and the file format around them (WAVE, http://soundfile.sapp.org/doc/WaveFormat/). */

const headBytes = 44;
const bytesPerSample = 2;
const usualRate = 24_000;
const endless = 0xffff_ffff;

/** `audio/L16;codec=pcm;rate=24000`, `audio/pcm`. */
export const isPcm = (mimeType: string): boolean => /^audio\/(?:l16|pcm)\b/i.test(mimeType);

/** Samples per second by a media type. */
export const rateOf = (mimeType: string): number => Number(/;\s*rate=(\d{4,6})\b/i.exec(mimeType)?.[1] ?? usualRate);

/** Samples of 16 bits and one channel as a WAVE file. */
export const writeWave = (samples: Buffer, rate: number): Buffer => Buffer.concat([waveHead(rate, samples.length), samples]);

/** Header of a WAVE file for samples of 16 bits and one channel. Without a length the file has no declared end, as writers of streams do it. */
export function waveHead(rate: number, length?: number): Buffer {
  const head = Buffer.alloc(headBytes);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(length === undefined ? endless : headBytes - 8 + length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * bytesPerSample, 28);
  head.writeUInt16LE(bytesPerSample, 32);
  head.writeUInt16LE(bytesPerSample * 8, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(length ?? endless, 40);
  return head;
}

/** The samples of a WAVE file; undefined for what is none. */
export function readWave(file: Buffer): Buffer | undefined {
  if (file.length < headBytes || file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') return undefined;
  for (let at = 12; at + 8 <= file.length; ) {
    const length = file.readUInt32LE(at + 4);
    // A writer that did not know the length says that there is no end to it.
    if (file.toString('latin1', at, at + 4) === 'data') return file.subarray(at + 8, Math.min(file.length, at + 8 + length));
    at += 8 + length + (length % 2);
  }
  return undefined;
}
