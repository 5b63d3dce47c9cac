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
  });

  test.each([
    ['a nested key of the same name', '{"model":"a","x":{"model":"b"}}'],
    ['a repeated key', '{"model":"a","model":"b"}'],
    ['a text that is the key', '{"model":"a","x":"model"}'],
    ['a key that ends like it', '{"x\\"model":"a","model":"b"}'],
    ['a key written with escapes', '{"mod\\u0065l":"a","x":{"model":"b"}}'],
    ['a value written with escapes', '{"model":"a\\/b"}'],
    ['a value that is no text', '{"model":7}'],
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
        const edits = [{ path: ['model'], value: 'é new' }];
        const spliced = spliceParsed(Buffer.from(json), JSON.parse(json), edits);
        if (spliced !== null) expect(Buffer.from(spliced).toString()).toBe(Buffer.from(applyEdits(Buffer.from(json), edits)).toString());
      }),
      { numRuns: 2000 },
    );
  });
});
