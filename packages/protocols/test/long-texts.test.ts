/** Texts that others choose, made of one sign that an expression looks for: reading them costs what their length does, not its square. */
import { expect, test } from '@jest/globals';
import { writeSrt, writeVtt } from '../src/alpha/client/timed-transcripts.ts';
import { alpha } from '../src/alpha/index.ts';
import { alphaAudio } from '../src/alpha_audio/index.ts';
import { alphaImages } from '../src/alpha_images/index.ts';
import { alphaResponse } from '../src/alpha_response/index.ts';
import { beta } from '../src/beta/index.ts';
import type { FormBody } from '../src/contract/index.ts';

/** As long as the head of a form's part may be. */
const partName = 16_000;
const form = (name: string): FormBody => ({
  fields: [{ name: 'prompt', value: 'p' }, ...Array.from({ length: 90 }, () => ({ name, value: 'x' }))],
  files: ['image', 'file'].map((field) => ({ name: field, filename: 'a.png', contentType: 'image/png', content: Buffer.from('x') })),
});

test.each<[string, () => unknown]>([
  ['fields of a form for images', () => alphaImages.client!.unary!['image-edit']!.readForm!(form('['.repeat(partName)))],
  ['fields of a form for audio', () => alphaAudio.client!.unary!['transcribe']!.readForm!(form(`${'['.repeat(partName)}\u2028`))],
  ['subtitles', () => [writeSrt, writeVtt].map((write) => write({ text: '', segments: [{ start: 0, end: 1, text: ' '.repeat(200_000) }] }))],
  [
    'an error',
    () => {
      for (const message of ['usage limit '.repeat(20_000), 'model '.repeat(40_000)])
        for (const type of ['invalid_request_error', undefined])
          for (const protocol of [alpha, alphaResponse, beta])
            protocol.upstream!.readError(400, {}, JSON.stringify({ type: 'error', error: { type, message } }));
    },
  ],
])('%s', (_what, read) => {
  // Of the processor, not of the clock: others may be at work.
  const began = process.cpuUsage();
  read();
  expect(process.cpuUsage(began).user / 1_000_000).toBeLessThan(5);
});

test('what they say stays', () => {
  const segments = [{ start: 0, end: 1, text: 'one \n\n  two\t three  -->\r\nfour ' }];
  expect(writeVtt({ text: '', segments })).toBe('WEBVTT\n\n00:00:00.000 --> 00:00:01.000\none two\t three  -> four \n\n');
  const files = ['image[]', 'image[12]', 'mask'].map((name) => ({ name, filename: 'a.png', contentType: 'image/png', content: Buffer.from(name) }));
  const names = ['a[b]', 'b[c][d]', 'c]', '[d', 'e[f]g'];
  const fields = [{ name: 'prompt', value: 'p' }, ...names.map((name) => ({ name, value: name }))];
  const { request, losses } = alphaImages.client!.unary!['image-edit']!.readForm!({ fields, files });
  expect(request).toMatchObject({ sources: [{}, {}], mask: {} });
  expect(Object.keys({ ...request.options })).toEqual(['a', 'b[c]', 'c]', '[d', 'e[f]g']);
  expect(losses).toBeDefined();
});
