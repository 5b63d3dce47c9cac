/** Server-sent events: the same records however the bytes are cut, and the forms that real servers send. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSseParser, FramingError, type SseRecord } from './index.ts';

const maxEventBytes = 10_000;

function readAll(chunks: Iterable<Uint8Array>): SseRecord[] {
  const parser = createSseParser({ maxEventBytes });
  const records: SseRecord[] = [];
  for (const chunk of chunks) records.push(...parser.push(chunk));
  records.push(...parser.finish());
  return records;
}

const plain = (records: SseRecord[]) => records.map(({ raw, ...rest }) => ({ ...rest, raw: Buffer.from(raw).toString('latin1') }));
const read = (text: string) => plain(readAll([Buffer.from(text)]));
const eachByte = (bytes: Buffer) => Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));

describe('forms', () => {
  test('an event with name and data, and the offset of its data', () => {
    const text = 'event: message_start\ndata: {"é":1}\n\ndata:[DONE]\n\n';
    const records = readAll([Buffer.from(text)]);
    expect(records.map(({ event, data }) => ({ event, data }))).toEqual([
      { event: 'message_start', data: '{"é":1}' },
      { event: undefined, data: '[DONE]' },
    ]);
    for (const record of records) expect(Buffer.from(record.raw).subarray(record.dataStart, record.dataEnd).toString()).toBe(record.data);
    expect(Buffer.concat(records.map(({ raw }) => raw)).toString()).toBe(text);
  });

  test.each(['\n', '\r\n', '\r'])('line end %j', (end) => {
    const text = `event: a${end}data: 1${end}${end}data: 2${end}${end}`;
    const records = readAll([Buffer.from(text)]);
    expect(records.map(({ event, data }) => [event, data])).toEqual([
      ['a', '1'],
      [undefined, '2'],
    ]);
    expect(Buffer.concat(records.map(({ raw }) => raw)).toString()).toBe(text);
  });

  test('several data lines are one payload without a range', () => {
    expect(read('data: {\ndata:  "a": 1\ndata: }\n\n')).toEqual([{ data: '{\n "a": 1\n}', raw: 'data: {\ndata:  "a": 1\ndata: }\n\n' }]);
  });

  test('comments are dropped, wherever they are', () => {
    expect(read(': hello\n\n:\n\ndata: 1\n\n: bye\n\n')).toEqual([{ data: '1', raw: 'data: 1\n\n', dataStart: 6, dataEnd: 7 }]);
    expect(read(': before\nevent: e\n: between\ndata: 1\n:x\n\n')).toEqual([
      { event: 'e', data: '1', raw: 'event: e\ndata: 1\n\n', dataStart: 15, dataEnd: 16 },
    ]);
    expect(read('data: 1\r: mixed\n: twice\n\n')[0]?.raw).toBe('data: 1\r\r\n');
    expect(read(':HTTP_STATUS/200\nid:1\nevent:result\ndata:{}\n\n')).toEqual([
      { event: 'result', data: '{}', raw: 'id:1\nevent:result\ndata:{}\n\n', dataStart: 23, dataEnd: 25 },
    ]);
  });

  test('events without data are not dispatched, a data line without value is', () => {
    expect(read('event: ping\n\nid: 4\nretry: 10\n\n\n\ndata: 1\n\n').map(({ event, data }) => [event, data])).toEqual([[undefined, '1']]);
    expect(read('data\n\ndata:\n\n').map(({ data }) => data)).toEqual(['', '']);
    expect(read('database: 1\n\n dat: 1\n\n')).toEqual([]);
  });

  test('a byte order mark is no part of the first event', () => {
    expect(read('\ufeffdata: 1\n\n')).toEqual([{ data: '1', raw: 'data: 1\n\n', dataStart: 6, dataEnd: 7 }]);
  });

  test('spaces at the end of values are dropped, inside they stay', () => {
    expect(read('event: a \ndata: [DONE] \t\n\n')).toMatchObject([{ event: 'a', data: '[DONE]', dataStart: 16, dataEnd: 22 }]);
    expect(read('data:   two before\n\n')[0]?.data).toBe('  two before');
  });

  test.each([
    ['data: 1', 'data: 1\n\n'],
    ['data: 1\n', 'data: 1\n\n'],
    ['data: 1\r\n', 'data: 1\r\n\r\n'],
    ['data: 1\r', 'data: 1\r\n\r\n'],
    ['data: 1\r\n\r', 'data: 1\r\n\r\n'],
    ['data: 1\r\r', 'data: 1\r\r'],
    ['data: 1\r: comment\n', 'data: 1\r\n\r\n'],
    ['data: 1\n: trailing comment', 'data: 1\n\n'],
  ])('a last event that ends with the body: %j', (text, raw) => {
    const records = read(text);
    expect(records.map(({ data }) => data)).toEqual(['1']);
    expect(records[0]?.raw).toBe(raw);
  });

  test('nothing at all', () => {
    expect(readAll([])).toEqual([]);
    expect(read('\n\n\r\n')).toEqual([]);
  });
});

describe('bounds', () => {
  test('an event that outgrows the limit is refused, cut or whole, and what came before is given first', () => {
    const good = Buffer.from('data: 1\n\n');
    const large = Buffer.from(`data: ${'x'.repeat(50)}\n\n`);
    for (const chunks of [[Buffer.concat([good, large])], eachByte(Buffer.concat([good, large]))]) {
      const parser = createSseParser({ maxEventBytes: 40 });
      const records: SseRecord[] = [];
      let error: unknown;
      try {
        for (const chunk of chunks) records.push(...parser.push(chunk));
        records.push(...parser.finish());
      } catch (caught) {
        error = caught;
      }
      expect(records.map(({ data }) => data)).toEqual(['1']);
      expect(error).toBeInstanceOf(FramingError);
      expect((error as FramingError).code).toBe('too_large');
      expect(() => parser.push(good)).toThrow(FramingError);
      expect(() => parser.finish()).toThrow(FramingError);
    }
  });

  test('the limit counts one event, not the stream, and comments do not pile up', () => {
    const parser = createSseParser({ maxEventBytes: 40 });
    for (let round = 0; round < 1_000; round += 1) expect(parser.push(Buffer.from(': keep-alive\n'))).toEqual([]);
    expect(parser.push(Buffer.from('data: 1\n\n'.repeat(100)))).toHaveLength(100);
  });

  test('a megabyte in single bytes is linear', () => {
    const bytes = Buffer.from(`data: ${'x'.repeat(1_000_000)}\n\n`);
    const parser = createSseParser({ maxEventBytes: 2_000_000 });
    const started = process.cpuUsage();
    let count = 0;
    for (let index = 0; index < bytes.length; index += 1) count += parser.push(bytes.subarray(index, index + 1)).length;
    expect(count).toBe(1);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(20_000);
  });
});

/** The standard's algorithm on the whole text, line by line. */
function reference(text: string): { event?: string; data: string }[] {
  const records: { event?: string; data: string }[] = [];
  let event: string | undefined;
  let data: string[] = [];
  const dispatch = () => {
    if (data.length > 0) records.push({ ...(event !== undefined && { event }), data: data.join('\n') });
    event = undefined;
    data = [];
  };
  for (const line of text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)) {
    if (line === '') dispatch();
    const [, name, value] = /^([^:]*)(?::[ ]?(.*))?$/su.exec(line)!;
    const trimmed = (value ?? '').replace(/[ \t]+$/, '');
    if (name === 'data') data.push(trimmed);
    else if (name === 'event') event = trimmed;
  }
  dispatch();
  return records;
}

describe('properties', () => {
  const lineEnd = fc.constantFrom('\n', '\r\n', '\r', '\n');
  const line = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(fc.constantFrom('data: ', 'data:', 'event: ', 'id: ', ': ', ':', 'dat', ''), fc.string({ unit: 'grapheme', maxLength: 12 })),
    },
    { weight: 1, arbitrary: fc.tuple(fc.constant(''), fc.constant('')) },
  );
  const stream = fc
    .tuple(fc.boolean(), fc.array(fc.tuple(line, lineEnd, fc.boolean()), { maxLength: 14 }))
    .map(
      ([mark, lines]) =>
        (mark ? '\ufeff' : '') + lines.map(([[name, value], end, twice]) => name + value.replace(/[\r\n]/g, '') + end + (twice ? end : '')).join(''),
    );

  test('any text gives what the standard says, in one chunk', () => {
    fc.assert(
      fc.property(stream, (text) => {
        expect(readAll([Buffer.from(text)]).map(({ event, data }) => ({ ...(event !== undefined && { event }), data }))).toEqual(reference(text));
      }),
      { numRuns: 1000 },
    );
  });

  test('every cut gives the same records, bytes included: single cuts, single bytes, random pieces', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 6 }), (text, cuts) => {
        const bytes = Buffer.from(text);
        const whole = plain(readAll([bytes]));
        for (let cut = 0; cut <= bytes.length; cut += 1) expect(plain(readAll([bytes.subarray(0, cut), bytes.subarray(cut)]))).toEqual(whole);
        expect(plain(readAll(eachByte(bytes)))).toEqual(whole);
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        expect(plain(readAll(places.slice(1).map((place, index) => bytes.subarray(places[index], place))))).toEqual(whole);
      }),
      { numRuns: 150 },
    );
  });

  test('raw holds the event and nothing else: reading it again gives the record again', () => {
    fc.assert(
      fc.property(stream, (text) => {
        for (const record of readAll([Buffer.from(text)])) {
          // Read alone, a mixture of line ends may be completed by an LF it did not have.
          const bare = (records: SseRecord[]) => plain(records).map((one) => ({ ...one, raw: one.raw.replace(/[\r\n]+$/, '') }));
          expect(bare(readAll([record.raw]))).toEqual(bare([record]));
          if (record.dataStart !== undefined) expect(Buffer.from(record.raw).subarray(record.dataStart, record.dataEnd).toString()).toBe(record.data);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('random bytes never throw', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 10 }), (chunks) => {
        expect(Array.isArray(readAll(chunks))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

const fixtures = process.env['FIXTURES_DIR'] ?? join(import.meta.dirname, '../../../../shared/fixtures');

describe('recorded streams', () => {
  if (!existsSync(fixtures)) {
    test('are here when they are required', () => {
      console.log('framing: recorded streams did not run, there are no fixtures');
      expect(process.env['FIXTURES_REQUIRED']).not.toBe('1');
    });
    return;
  }
  test('each gives what the standard says, whole and in small pieces', () => {
    const files = globSync('**/*.sse', { cwd: fixtures });
    expect(files.length).toBeGreaterThan(100);
    for (const file of files) {
      const bytes = readFileSync(join(fixtures, file));
      const parse = (chunks: Iterable<Uint8Array>) => {
        const parser = createSseParser({ maxEventBytes: 16_000_000 });
        const records: SseRecord[] = [];
        for (const chunk of chunks) records.push(...parser.push(chunk));
        return [...records, ...parser.finish()];
      };
      const whole = parse([bytes]);
      expect({ file, records: whole.map(({ event, data }) => ({ ...(event !== undefined && { event }), data })) }).toEqual({
        file,
        records: reference(bytes.toString()),
      });
      const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) => bytes.subarray(index * 7, index * 7 + 7));
      expect(plain(parse(pieces))).toEqual(plain(whole));
    }
  });
});
