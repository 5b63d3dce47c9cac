import { expect, test } from '@jest/globals';
import type { SpeechFormat } from '../../contract/index.ts';
import { waveHead, writeWave } from '../../kit/wave.ts';
import { SpeechWriter } from './speech-writer.ts';

const samples = Buffer.from([1, 0, 2, 0, 3, 0, 4, 0]);
const request = (format?: SpeechFormat) => ({ text: 'Hi', voice: 'a', ...(format && { format }), options: {} });
const piece = (bytes: Buffer, mimeType = 'audio/pcm') => ({ data: bytes.toString('base64'), mimeType });
const context = (usage: object | null) => ({ model: 'm', usage: usage as never, now: 0, mintId: () => 'id' });

function speak(format: SpeechFormat | undefined, pieces: { data: string; mimeType: string }[]) {
  const writer = new SpeechWriter(request(format), 'bytes');
  const bytes = Buffer.concat(pieces.map((one) => Buffer.from(writer.write(one))));
  return { bytes, type: writer.contentType };
}

test('samples alone, or behind one head without a length', () => {
  const pieces = [piece(samples.subarray(0, 3)), piece(samples.subarray(3))];
  expect(speak('pcm', pieces)).toEqual({ bytes: samples, type: 'audio/pcm' });
  expect(speak(undefined, pieces)).toEqual({ bytes: Buffer.concat([waveHead(24_000), samples]), type: 'audio/wav' });
  expect(waveHead(24_000).readUInt32LE(40)).toBe(0xffff_ffff);
});

test('the rate is the one that the upstream names', () => {
  expect(speak('wav', [piece(samples, 'audio/L16;codec=pcm;rate=16000')]).bytes.readUInt32LE(24)).toBe(16_000);
});

test('a file is a file whatever it is called: its head stays, or goes where samples were asked for', () => {
  const file = writeWave(samples, 24_000);
  const pieces = [piece(file.subarray(0, 46)), piece(file.subarray(46))];
  expect(speak('mp3', pieces)).toEqual({ bytes: file, type: 'audio/wav' });
  expect(speak('pcm', pieces)).toEqual({ bytes: samples, type: 'audio/pcm' });
});

test('what is compressed passes by its own name', () => {
  expect(speak('pcm', [piece(samples, 'audio/mpeg'), piece(samples, 'audio/mpeg')])).toEqual({ bytes: Buffer.concat([samples, samples]), type: 'audio/mpeg' });
});

test('events are bounded, and the last one has the figures where there are any', () => {
  const writer = new SpeechWriter(request('pcm'), 'sse');
  const long = Buffer.alloc(100 * 1024, 7);
  const events = String(writer.write(piece(long)))
    .split('\n\n')
    .filter(Boolean)
    .map((text) => JSON.parse(text.slice('data: '.length)));
  expect(events.map(({ type }) => type)).toEqual(['speech.audio.delta', 'speech.audio.delta', 'speech.audio.delta']);
  expect(Buffer.concat(events.map(({ audio }) => Buffer.from(audio, 'base64'))).equals(long)).toBe(true);
  expect(writer.contentType).toBeUndefined();
  expect(writer.end(context(null))).toBe('data: {"type":"speech.audio.done"}\n\n');
  expect(writer.end(context({ input: 3, output: 1, audioOutput: 40 }))).toContain('"usage":{"input_tokens":3,"output_tokens":41,"total_tokens":44}');
});
