/** Files inside a body, told from text by their first bytes: what they are charged as, and that nothing else passes for one. */
import { describe, expect, test } from '@jest/globals';
import { findInlineFiles } from './index.ts';

const base64 = (head: string | Buffer, bytes: number) => Buffer.concat([Buffer.from(head as string, 'latin1'), Buffer.alloc(bytes, 7)]).toString('base64');
const of = (content: string) => {
  const body = Buffer.from(`"${content}"`);
  return findInlineFiles(body, [{ start: 0, end: body.length }]);
};
const jpeg = base64('\xff\xd8\xff\xe0', 300_000);

function wave(bytesPerSecond: number): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(bytesPerSecond, 28);
  return head;
}

describe('files', () => {
  test.each([
    ['a PNG', base64('\x89PNG\r\n\x1a\n', 5_000_000), 1_600],
    ['a JPEG', jpeg, 1_600],
    ['a JPEG with escaped slashes', jpeg.replaceAll('/', '\\/'), 1_600],
    ['a WebP', base64('RIFF\x12\x34\x56\x78WEBPVP8 ', 90_000), 1_600],
    ['a picture of a kind that only its address names', `data:image/avif;base64,${base64('xxxx', 90_000)}`, 1_600],
    ['a PDF, a page for each 40 KB', base64('%PDF-1.7', 79_000), 4_000],
    ['sound that tells its length: ten seconds', base64(wave(32_000).toString('latin1'), 320_000), 321],
    ['film', base64('\0\0\0\x20ftypisom', 100_000), 1_001],
    ['sound of frames alone', base64('\xff\xfb\x90', 100_000), 1_001],
    ['sound that does not', base64('ID3', 100_000), 1_001],
  ])('%s', (_what, content, tokens) => {
    const found = of(content);
    expect(found.bytes).toBe(content.length + 2);
    expect(Math.abs(found.tokens - tokens)).toBeLessThanOrEqual(1);
  });

  test('are never dearer than their bytes as text', () => expect(of(base64('%PDF-', 3_100)).tokens).toBe(Math.ceil((base64('%PDF-', 3_100).length + 2) / 3)));
});

test.each([
  ['prose', 'A picture is worth a thousand words. '.repeat(1_000)],
  ['base64 of nothing known', base64('nothing', 90_000)],
  ['prose that begins as a picture', `iVBORw0KGgo ${'and goes on as prose does. '.repeat(1_000)}`],
  ['prose behind an address of data', `data:image/png;base64,${'and goes on as prose does. '.repeat(1_000)}`],
  ['an address of data that is not base64', `data:image/svg+xml,${'x'.repeat(9_000)}`],
])('%s stays text', (_what, content) => expect(of(content)).toEqual({ bytes: 0, tokens: 0 }));
