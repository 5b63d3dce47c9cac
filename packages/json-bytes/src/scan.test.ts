/** The scanner: agrees with JSON.parse on structure, finds values, refuses what is too deep, too wide or said twice. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeJsonString, scanBody } from './index.ts';

const keys = ['model', 'stream', 'stream_options'] as const;
const scan = (text: string, limits: { maxDepth?: number; maxNodes?: number } = {}) => scanBody(Buffer.from(text), { keys, ...limits });
const sliceOf = (text: string, value: { start: number; end: number } | undefined) =>
  value ? Buffer.from(text).subarray(value.start, value.end).toString() : undefined;

test('long strings are found as values, at any depth, and not as keys', () => {
  const long = 'x'.repeat(30);
  const text = JSON.stringify({ [long]: 1, model: long, a: [{ b: [long, 'short', `${long}"`] }] });
  const result = scanBody(Buffer.from(text), { keys, longStrings: 32 });
  expect(result.ok && result.longStrings.map(({ start, end }) => JSON.parse(text.slice(start, end)))).toEqual([long, long, `${long}"`]);
  expect(scanBody(Buffer.from(text), { keys })).toMatchObject({ longStrings: [] });
});

describe('words', () => {
  const words = ['tool_calls', 'input_text', 'thought_signature'] as const;
  const seen = (text: string) => {
    const result = scanBody(Buffer.from(text), { keys, words });
    return result.ok ? result.words.toSorted() : result.code;
  };

  test('are found as keys and as values, at any depth, each once, in any spelling', () => {
    expect(seen('{"a":[{"tool_calls":[{"tool_calls":1}]}],"type":"input_text"}')).toEqual(['input_text', 'tool_calls']);
    expect(seen('{"tool_c\\u0061lls":1}')).toEqual(['tool_calls']);
    expect(seen('{"a":"say \\"tool_calls\\"","b":"tool_calls ","c":"xtool_calls"}')).toEqual([]);
  });

  test('are those that a parser finds', () => {
    const leaf = fc.oneof(fc.constantFrom<string>(...words), fc.string(), fc.integer());
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(fc.oneof(fc.constantFrom<string>(...words), fc.string()), tie('any')),
      ),
    })).any;
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'tool_calls'), value), (body) => {
        const found = new Set<string>();
        const look = (at: unknown): void => {
          if (typeof at === 'string') found.add(at);
          else if (typeof at === 'object' && at !== null)
            for (const [key, inner] of Object.entries(at)) {
              if (!Array.isArray(at)) found.add(key);
              look(inner);
            }
        };
        look(body);
        expect(seen(JSON.stringify(body))).toEqual(words.filter((word) => found.has(word)).toSorted());
      }),
    );
  });
});

describe('finding values', () => {
  test('gives place and kind of the wanted top-level keys only', () => {
    const text = ' {"a":{"model":"inner"}, "model" : "gpt-é" ,"stream":true,"stream_options":{"include_usage":[1,{"x":null}]},"n":-1.5e+3}\n';
    const result = scan(text);
    if (!result.ok) throw new Error(result.message);
    expect(sliceOf(text, result.values.model)).toBe('"gpt-é"');
    expect(result.values.model?.kind).toBe('string');
    expect(decodeJsonString(Buffer.from(text), result.values.model!.start, result.values.model!.end)).toBe('gpt-é');
    expect(sliceOf(text, result.values.stream)).toBe('true');
    expect(result.values.stream?.kind).toBe('true');
    expect(sliceOf(text, result.values.stream_options)).toBe('{"include_usage":[1,{"x":null}]}');
    expect(result.values.stream_options?.kind).toBe('object');
    expect(Buffer.from(text)[result.end]).toBe(0x7d);
    expect(result.end).toBe(Buffer.byteLength(text) - 2);
  });

  test.each([
    ['{"model":null}', 'null'],
    ['{"model":false}', 'false'],
    ['{"model":-0.1E9}', 'number'],
    ['{"model":[]}', 'array'],
    ['{"model":{}}', 'object'],
  ])('kind of %s', (text, kind) => {
    const result = scan(text);
    expect(result.ok && result.values.model?.kind).toBe(kind);
    expect(result.ok && sliceOf(text, result.values.model)).toBe(text.slice(9, -1));
  });

  test('a key written with escapes is the same key', () => {
    const result = scan('{"mod\\u0065l":"x"}');
    expect(result.ok && result.values.model?.kind).toBe('string');
  });

  test('an absent key is undefined, and a key named like a prototype member does no harm', () => {
    const result = scan('{"__proto__":{"model":"x"},"constructor":1}');
    expect(result.ok && result.values.model).toBeUndefined();
    const own = scanBody(Buffer.from(`{"constructor":1}`), { keys: ['constructor', 'toString'] });
    expect(own.ok && own.values.constructor?.kind).toBe('number');
    expect(own.ok && own.values.toString).toBeUndefined();
  });
});

describe('refusals', () => {
  test.each([
    ['{"model":"a","model":"b"}', 'model'],
    ['{"model":"a","x":1,"\\u006dodel":"b"}', 'model'],
    ['{"stream":true,"stream":true}', 'stream'],
  ])('a wanted key twice: %s', (text, param) => {
    expect(scan(text)).toMatchObject({ ok: false, code: 'duplicate_key', param });
  });

  test('a repeated key that nobody wants, or a nested one, passes', () => {
    expect(scan('{"a":1,"a":2,"b":{"model":1,"model":2}}').ok).toBe(true);
  });

  const distinct = (text: string) => scanBody(Buffer.from(text), { keys, distinctKeys: true });
  test.each([
    ['{"model":"a","MODEL":"b"}', 'MODEL'],
    ['{"Model":"a","x":1,"model":"b"}', 'Model'],
    ['{"model":"a","mod\\u0045l":"b"}', 'mod\\u0045l'],
    ['{"temperature":1,"Temperature":2}', 'Temperature'],
    ['{"temperature":1,"temperature":2}', 'temperature'],
    ['{"\\u0074op_k":1,"top_K":2}', 'top_K'],
    // U+017F is an s and U+212A a k to readers that fold case as Go does.
    ['{"stop":1,"\u017ftop":2}', '\u017ftop'],
    ['{"top_k":1,"top_\u212a":2}', 'top_\u212a'],
    ['{"\\u017ftream":true,"messages":[]}', '\\u017ftream'],
    ['{"model":"a","STREAM":true}', 'STREAM'],
  ])('where keys must be distinct, one that could be taken for another: %s', (text, param) => {
    expect(distinct(text)).toMatchObject({ ok: false, code: 'duplicate_key', param });
  });

  test.each([
    ['{"model":"a","model":"b"}', 'The key "model" is given twice.'],
    ['{"model":"a","mod\\u0065l":"b"}', 'The key "model" is given twice, the second time written "mod\\u0065l".'],
    ['{"model":"a","Model":"b"}', 'The keys "model" and "Model" differ in case alone: which one counts depends on who reads them.'],
  ])('why is said as it is: %s', (text, message) => {
    expect(distinct(text)).toMatchObject({ ok: false, message });
  });

  test('keys that are written differently otherwise, nested ones, and names of Object members are distinct', () => {
    const text = JSON.stringify({
      model: 'a',
      models: 1,
      'm-odel': 1,
      É: 1,
      é: 2,
      constructor: 1,
      __proto: 1,
      n: { model: 1, Model: 2 },
      [`k${'x'.repeat(600)}`]: 1,
    });
    expect(distinct(text).ok).toBe(true);
    expect(distinct('{"mod\\u0065l":"a"}').ok).toBe(true);
    expect(distinct('{"__proto__":1,"toString":2,"valueOf":3}').ok).toBe(true);
  });

  test('keys judged distinct are those that stay apart when folded as Go folds them', () => {
    const fold = (key: string) =>
      [...key].map((one) => (one === '\u017f' ? 's' : one === '\u212a' ? 'k' : /[A-Z]/.test(one) ? one.toLowerCase() : one)).join('');
    const name = fc.string({ unit: fc.constantFrom(...'aAsSkK\u017f\u212a\\"é'), minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 6 }), (names) => {
        const text = `{${names.map((one) => `${JSON.stringify(one)}:1`).join(',')}}`;
        expect(distinct(text).ok).toBe(new Set(names.map(fold)).size === names.length);
      }),
      { numRuns: 500 },
    );
  });

  test('depth and width have exact limits', () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`;
    expect(scan(nested(64)).ok).toBe(true);
    expect(scan(nested(65))).toMatchObject({ ok: false, code: 'too_deep' });
    expect(scan(`{"a":${'['.repeat(100_000)}`)).toMatchObject({ ok: false, code: 'too_deep' });
    expect(scan('{"a":[1,2]}', { maxNodes: 4 }).ok).toBe(true);
    expect(scan('{"a":[1,2,3]}', { maxNodes: 4 })).toMatchObject({ ok: false, code: 'too_wide' });
  });

  test.each(['[1]', '"x"', '1', 'null', ' true'])('a top value that is no object: %s', (text) => {
    expect(scan(text)).toEqual({ ok: false, code: 'invalid_json', message: 'The request body must be a JSON object.' });
  });

  test.each([
    '',
    ' ',
    '{',
    '}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '{"a":1 "b":2}',
    '{"a":[1,]}',
    '{"a":[}',
    '{"a":[1}',
    '{"a":1]',
    '{"a":01}',
    '{"a":-}',
    '{"a":1.}',
    '{"a":1e}',
    '{"a":.5}',
    '{"a":+1}',
    '{"a":tru}',
    '{"a":nulll}',
    '{"a":NaN}',
    '{"a":"x}',
    '{"a":"x\\"}',
    '{a:1}',
    "{'a':1}",
    '{"a":1}x',
    '{"a":1}{}',
    '{"model":"a\\x"}',
    '{"model":"a\nb"}',
    '{"model":"\\u12g4"}',
  ])('malformed: %s', (text) => {
    expect(scan(text)).toMatchObject({ ok: false, code: 'invalid_json' });
  });

  test('a byte order mark', () => {
    expect(scan('\ufeff{}')).toMatchObject({ ok: false, code: 'invalid_json', message: expect.stringContaining('byte order mark') });
  });
});

describe('properties', () => {
  const parses = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const object = fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 6 });

  test('everything JSON.stringify prints is accepted, with the right position of the value', () => {
    fc.assert(
      fc.property(object, fc.string({ unit: 'binary', maxLength: 200 }), fc.constantFrom(0, 1, 3), (rest, model, indent) => {
        delete rest['model'];
        delete rest['stream'];
        delete rest['stream_options'];
        const text = JSON.stringify({ ...rest, model }, null, indent);
        const result = scan(text);
        if (!result.ok) throw new Error(result.message);
        const bytes = Buffer.from(text);
        const value = result.values.model!;
        expect(decodeJsonString(bytes, value.start, value.end)).toBe(JSON.parse(bytes.subarray(value.start, value.end).toString()));
      }),
      { numRuns: 300 },
    );
  });

  test('text with random damage: never throws, and agrees with JSON.parse except inside strings', () => {
    const pieces = [...'{}[],:"\\ \n0-1.e', 'true', 'null', '\\"', '"a"'];
    const damage = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...pieces), fc.nat({ max: 2 })), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(object, damage, (value, edits) => {
        let text = JSON.stringify(value);
        for (const [at, piece, removed] of edits) {
          const offset = at % (text.length + 1);
          text = text.slice(0, offset) + piece + text.slice(offset + removed);
        }
        const result = scan(text);
        const withoutStrings = text.replace(/"(?:[^"\\]|\\.)*"/gs, '""');
        const isObject = text.trimStart().startsWith('{');
        if (result.ok) expect(parses(withoutStrings)).toBe(true);
        else if (result.code === 'invalid_json' && isObject) expect(parses(text)).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  test('strings of backslashes and quotes end where JSON.parse ends them, far beyond the near search', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('\\', '"', 'a', 'é', '\\\\\\"', 'x'.repeat(60)), { maxLength: 80 }), (parts) => {
        const text = JSON.stringify({ filler: parts.join(''), model: 'm' });
        const result = scan(text);
        expect(result.ok && sliceOf(text, result.values.model)).toBe('"m"');
      }),
      { numRuns: 500 },
    );
  });
});
