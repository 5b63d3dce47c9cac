/** Streamed JSON arrays: the same elements however the bytes are cut. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createJsonArrayParser, FramingError, type JsonElement } from './index.ts';

function readAll(chunks: Iterable<Uint8Array>, maxElementBytes = 100_000) {
  const parser = createJsonArrayParser({ maxElementBytes });
  const elements: JsonElement[] = [];
  for (const chunk of chunks) elements.push(...parser.push(chunk));
  elements.push(...parser.finish());
  return { data: elements.map(({ data }) => data), raw: elements.map(({ raw }) => Buffer.from(raw).toString()), complete: parser.complete };
}
const read = (text: string) => readAll([Buffer.from(text)]);
const eachByte = (bytes: Buffer) => Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));

describe('forms', () => {
  test('the form that is seen on the wire', () => {
    expect(read('[{"a": "é]"}\n,\r\n{"b": ["\\"}"]}\n]\n')).toEqual({
      data: ['{"a": "é]"}', '{"b": ["\\"}"]}'],
      raw: ['{"a": "é]"}', '{"b": ["\\"}"]}'],
      complete: true,
    });
  });

  test.each([
    ['[]', [], true],
    ['\ufeff [ ] ', [], true],
    ['[1,"a,]",null, true ]', ['1', '"a,]"', 'null', 'true'], true],
    ['[[1],[2]]x', ['[1]', '[2]'], true],
    ['', [], false],
    ['[', [], false],
    ['[{"a":1}', ['{"a":1}'], false],
    ['[{"a":1},{"b":', ['{"a":1}'], false],
  ])('%j', (text, data, complete) => {
    expect(read(text)).toMatchObject({ data, complete });
    expect(readAll(eachByte(Buffer.from(text)))).toMatchObject({ data, complete });
  });

  test.each(['{"error":1}', 'x', '[1 2]', '[,1]', '[1,,2]', '[1,]', '[}'])('not an array: %j', (text) => {
    expect(() => readAll(eachByte(Buffer.from(text)))).toThrow(FramingError);
    const parser = createJsonArrayParser({ maxElementBytes: 100 });
    expect(() => {
      parser.push(Buffer.from(text));
      parser.finish();
    }).toThrow(expect.objectContaining({ code: 'malformed' }));
  });

  test('an element above the limit is refused, cut or whole, after the elements before it', () => {
    const text = Buffer.from(`[{"a":1},{"b":"${'x'.repeat(50)}"}]`);
    for (const chunks of [[text], eachByte(text)]) {
      const parser = createJsonArrayParser({ maxElementBytes: 20 });
      const data: string[] = [];
      expect(() => {
        for (const chunk of chunks) data.push(...parser.push(chunk).map((element) => element.data));
        parser.finish();
      }).toThrow(expect.objectContaining({ code: 'too_large' }));
      expect(data).toEqual(['{"a":1}']);
    }
  });
});

test('property: any array, any indent, any cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 5 }),
      fc.constantFrom(0, 2),
      fc.array(fc.nat(), { maxLength: 5 }),
      (value, indent, cuts) => {
        const bytes = Buffer.from(JSON.stringify(value, null, indent));
        const whole = readAll([bytes]);
        expect(whole.complete).toBe(true);
        expect(whole.data.map((text) => JSON.parse(text))).toEqual(JSON.parse(bytes.toString()));
        expect(whole.raw).toEqual(whole.data);
        expect(readAll(eachByte(bytes))).toEqual(whole);
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        expect(readAll(places.slice(1).map((place, index) => bytes.subarray(places[index], place)))).toEqual(whole);
      },
    ),
    { numRuns: 300 },
  );
});
