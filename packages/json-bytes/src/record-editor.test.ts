import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { applyEdits } from './apply-edits.ts';
import type { Edit } from './edit.ts';
import { RecordEditor } from './record-editor.ts';

const edit = (value: unknown, ...path: (string | number)[]): Edit => ({ path, value });

describe('the records of a stream', () => {
  test('become what each edit alone would make of them', () => {
    const member = fc.constantFrom(
      '"id":"x"',
      '"model":"a"',
      '"model":"b"',
      '"model": "a"',
      '"mod\\u0065l":"a"',
      '"delta":{"model":"a"}',
      '"text":"\\"model\\":\\"a\\""',
      '"n":[1,{"model":"b"}]',
      '"model":7',
      '"model":null',
    );
    const record = fc.array(member, { maxLength: 5 }).map((members) => `{${members.join(',')}}`);
    const edits = fc.constantFrom<Edit[]>(
      [edit('ours', 'model')],
      [edit('a', 'model')],
      [edit('ours', 'model'), edit(undefined, 'n')],
      [edit('z', 'delta', 'model')],
      [],
      [edit(undefined, 'model')],
    );
    fc.assert(
      fc.property(fc.array(fc.record({ record, edits }), { maxLength: 12 }), (steps) => {
        const editor = new RecordEditor();
        for (const { record, edits } of steps) expect(editor.apply(record, JSON.parse(record), edits)).toBe(applyEdits(record, edits));
      }),
      { numRuns: 2000 },
    );
  });

  test('that begin alike are not walked again', () => {
    const editor = new RecordEditor();
    const begin = '{"id":"c1","model":"theirs","choices":[';
    const apply = (text: string) => editor.apply(text, JSON.parse(text), [edit('ours', 'model')]);
    for (let at = 0; at < 20; at++) expect(apply(`${begin}${at}]}`)).toBe(`{"id":"c1","model":"ours","choices":[${at}]}`);
    expect(editor.apply('{"model": "x", "at": 1}', { model: 'x', at: 1 }, [edit('ours', 'model')])).toBe('{"model": "ours", "at": 1}');
    expect(editor.apply('{"model": "x", "at": 2}', { model: 'x', at: 2 }, [edit('ours', 'model')])).toBe('{"model": "ours", "at": 2}');
    expect(apply(`${begin}1],"model":"again"}`)).toBe('{"id":"c1","model":"ours","choices":[1],"model":"ours"}');
    expect(apply(`${begin}1],"mode\\u006c":"again"}`)).toBe('{"id":"c1","model":"ours","choices":[1],"mode\\u006c":"ours"}');
  });
});
