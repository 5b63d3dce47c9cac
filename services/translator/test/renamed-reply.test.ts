/** Names of models in replies that pass as bytes. */
import { describe, expect, test } from '@jest/globals';
import { RenamedLines, renameWhole } from '../src/reply-transform/renamed-reply.ts';

const whole = (text: string): string => Buffer.from(renameWhole(Buffer.from(text), 'mine')).toString();

function stream(chunks: readonly Uint8Array[]): string {
  const lines = new RenamedLines('mine');
  return Buffer.concat([...chunks.map((chunk) => lines.push(chunk)), lines.finish()]).toString('latin1');
}

describe('whole replies', () => {
  test.each(['model', 'modelVersion'])('%s becomes the caller’s name, and every other byte stays', (key) => {
    expect(whole(`{ "x":1.0, "${key}" : "real", "choices":[{"model":"real"}] }`)).toBe(`{ "x":1.0, "${key}" : "mine", "choices":[{"model":"real"}] }`);
  });

  test.each(['{"model":{"a":1}}', '{"model":null}', '{"model":"real"', '{"model":"a","model":"b"}', '["model"]', '"model"', 'the "model" said', ''])(
    '%s passes as it is',
    (text) => {
      expect(whole(text)).toBe(text);
    },
  );
});

describe('streams', () => {
  const events = [
    ': a comment with "model"\n\nevent: message_start\ndata: {"type":"message_start","message":{"model":"real","id":1}}\n\n',
    'data:{"response":{"model":"real"}}\r\n\r\nid: 1\nevent: ping\n\ndata: [DONE] "model"\r\rdata: {"model":"r\u00e9al"}\r\r',
    'data: {"modelVersion":"real"',
    ',"x":"\u00e9"}',
  ].join('');
  const expected = Buffer.from(events.replace(/"r(?:e|\u00e9)al"/g, '"mine"')).toString('latin1');

  test('however the bytes are cut', () => {
    const bytes = Buffer.from(events);
    expect(stream([bytes])).toBe(expected);
    expect(stream(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toBe(expected);
    for (let cut = 0; cut <= bytes.length; cut++) expect(stream([bytes.subarray(0, cut), bytes.subarray(cut)])).toBe(expected);
  });

  test('a line that is too long to be kept passes as it comes, and the next one is looked at again', () => {
    const lines = new RenamedLines('mine');
    const long = Buffer.from(`data: {"model":"real","data":"${'x'.repeat(2 * 1024 * 1024)}`);
    expect(lines.push(long).length).toBe(long.length);
    expect(Buffer.from(lines.push(Buffer.from('yy'))).toString()).toBe('yy');
    expect(Buffer.from(lines.push(Buffer.from('"}\n\ndata: {"model":"real"}\n\nda'))).toString()).toBe('"}\n\ndata: {"model":"mine"}\n\n');
    expect(Buffer.from(lines.finish()).toString()).toBe('da');
  });
});
