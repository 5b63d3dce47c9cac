/** Splicing bytes, and reading one string. */
import { describe, expect, test } from '@jest/globals';
import { decodeJsonString, spliceBytes } from './index.ts';

describe('spliceBytes', () => {
  const source = Buffer.from('{"model":"é","n":1}');

  test('replaces, inserts and removes, in any order given', () => {
    const model = { start: 9, end: 13, text: '"ü-long"' };
    const insert = { start: source.length - 1, end: source.length - 1, text: ',"x":true' };
    expect(spliceBytes(source, [insert, model]).toString()).toBe('{"model":"ü-long","n":1,"x":true}');
    expect(spliceBytes(source, [{ start: 13, end: 19, text: '' }]).toString()).toBe('{"model":"é"}');
    expect(spliceBytes(source, []).equals(source)).toBe(true);
  });

  test('works on a plain Uint8Array that is a window of a larger buffer', () => {
    const window = new Uint8Array(source.buffer, source.byteOffset + 1, 7);
    expect(spliceBytes(window, [{ start: 1, end: 6, text: 'm' }]).toString()).toBe('"m"');
  });

  test('refuses ranges that overlap or lie outside', () => {
    expect(() =>
      spliceBytes(source, [
        { start: 1, end: 5, text: '' },
        { start: 4, end: 6, text: '' },
      ]),
    ).toThrow(RangeError);
    expect(() => spliceBytes(source, [{ start: 1, end: 99, text: '' }])).toThrow(RangeError);
    expect(() => spliceBytes(source, [{ start: 5, end: 4, text: '' }])).toThrow(RangeError);
  });
});

test('decodeJsonString reads plain text, escapes and surrogate pairs', () => {
  const read = (json: string) => decodeJsonString(Buffer.from(json), 0, Buffer.byteLength(json));
  expect(read('"plain é"')).toBe('plain é');
  expect(read('"a\\"b\\n\\ud83d\\ude00"')).toBe('a"b\n😀');
  expect(read('""')).toBe('');
});
