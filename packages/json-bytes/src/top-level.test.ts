/** Replacing a top-level text by looking for its key alone. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { applyEdits, spliceParsed } from './index.ts';

const splice = (json: string, value: unknown = 'new'): string | undefined => {
  const spliced = spliceParsed(Buffer.from(json), JSON.parse(json), [{ path: ['model'], value }]);
  return spliced === null ? undefined : Buffer.from(spliced).toString();
};

describe('spliceParsed', () => {
  test('replaces the only one there is, however it is spaced', () => {
    expect(splice('{"id":"é","model":"old","n":1}')).toBe('{"id":"é","model":"new","n":1}');
    expect(splice('{ "model" \n:\t"öld" }', 'neü')).toBe('{ "model" \n:\t"neü" }');
    expect(splice('{"model":"a","text":"say \\"model\\": no"}')).toBe('{"model":"new","text":"say \\"model\\": no"}');
    expect(splice('{"model": null,"n":1}')).toBe('{"model": "new","n":1}');
    expect(splice('{"model":true}')).toBe('{"model":"new"}');
  });

  test('tells the first member from others of its name', () => {
    expect(splice(' { "model" : "a","x":{"model":"b"}}')).toBe(' { "model" : "new","x":{"model":"b"}}');
  });

  test('adds what is missing behind the last member', () => {
    const add = (json: string, ...keys: string[]): string | undefined => {
      const edits = keys.map((key) => ({ path: [key], value: key === 'a', add: true }));
      return spliceParsed(Buffer.from(json), JSON.parse(json), edits)?.toString();
    };
    expect(add('{"x":{"n":1}} \n', 'a', 'b')).toBe('{"x":{"n":1},"a":true,"b":false} \n');
    expect(add('{"x":"}"\n }', 'a')).toBe('{"x":"}","a":true\n }');
    expect(add('{"b":null}', 'a', 'b')).toBe('{"b":false,"a":true}');
    expect(add('{ }', 'a')).toBeUndefined();
    expect(add('{"x":1}', 'a', 'a')).toBeUndefined();
  });

  test.each([
    ['a repeated key', '{"model":"a","model":"b"}'],
    ['a text that is the key', '{"x":"model","model":"a"}'],
    ['a key that ends like it', '{"x\\"model":"a","model":"b"}'],
    ['a key written with escapes', '{"mod\\u0065l":"a","x":{"model":"b"}}'],
    ['a value written with escapes', '{"model":"a\\/b"}'],
    ['a nested key behind another member', '{"n":1,"model":"a","x":{"model":"b"}}'],
    ['a repeated key with one value', '{"model":"a","model":"a"}'],
    ['a value that occurs again', '{"model":"a","x":{"model":"a"}}'],
    ['a number', '{"model":7}'],
    ['no such key', '{"x":{"model":"b"}}'],
    ['no object', '["model"]'],
  ])('leaves %s to the reader of all bytes', (_what, json) => {
    expect(splice(json)).toBeUndefined();
  });

  test('removals and deeper paths are not its kind', () => {
    const bytes = Buffer.from('{"model":"a"}');
    expect(spliceParsed(bytes, { model: 'a' }, [{ path: ['model'], value: undefined }])).toBeNull();
    expect(spliceParsed(bytes, { model: 'a' }, [{ path: ['model', 0], value: 'b' }])).toBeNull();
  });

  test('law: where it answers it gives what applyEdits gives', () => {
    const text = fc.constantFrom('model', '"model"', '"model":"x"', 'a', '\\u', 'é"model');
    const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.constant(null), fc.array(tie('value')), fc.dictionary(text, tie('value'))),
    })).value;
    fc.assert(
      fc.property(fc.dictionary(text, value), text, (object, model) => {
        const json = JSON.stringify({ ...object, model });
        const edits = [
          { path: ['model'], value: 'é new' },
          { path: ['a'], value: null, add: true },
        ];
        const spliced = spliceParsed(Buffer.from(json), JSON.parse(json), edits);
        if (spliced !== null) expect(Buffer.from(spliced).toString()).toBe(Buffer.from(applyEdits(Buffer.from(json), edits)).toString());
      }),
      { numRuns: 2000 },
    );
  });
});
