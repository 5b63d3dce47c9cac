/** Rules over a body of which only what they look at was read: the same bytes come out as when it was read whole. */
import { describe, expect, test } from '@jest/globals';
import type { BodyRuleInput, ProtocolId } from '@model-gateway/contracts';
import { Projection, RepeatedKey, unread } from '@model-gateway/json-bytes';
import fc from 'fast-check';
import { checkRules } from '../src/index.ts';
import { layoutOf, tryRules } from './try-rules.ts';

const names = ['a', 'b', 'm', 'type', 'role', 'content', '0', '1', 'é'];
/** As a caller may spell them, and what no path may name. */
const spelled = [...names.map((name) => JSON.stringify(name)), '"\\u0061"', '"mod\\u0065l"', '"__proto__"', '"constructor"', '"\\u00e9"'];

const body = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom('1', '1.0', '1e0', '-0', '0', 'true', 'null', '"x"', '"\\u0078"', '"x\\ny"', '""', '12345678901234567890123', '"image"', '"é"'),
    fc.array(tie('value') as fc.Arbitrary<string>, { maxLength: 4 }).map((items) => `[${items.map((item) => ` ${item}`).join(' ,')} ]`),
    tie('object') as fc.Arbitrary<string>,
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom(...spelled), tie('value') as fc.Arbitrary<string>), { maxLength: 5 })
    .map((items) => `{${items.map(([key, value]) => `${key} : ${value}`).join(',')}\n}`),
})).object as fc.Arbitrary<string>;

const path = fc.array(fc.constantFrom(...names, '*', '*', '2', 'c'), { minLength: 1, maxLength: 4 }).map((steps) => steps.join('.'));
const value = fc.constantFrom<unknown>(1, 'x', null, [], {}, { type: 'x' }, [{ role: 'x' }], '{{request_id}}', '{{header:x-none}}');
const where = fc.array(fc.record({ path: fc.oneof(path, fc.constant('')), equal: fc.constantFrom<unknown>(1, 'x', 'image', 0, null, true, [], {}, 'é') }), {
  minLength: 1,
  maxLength: 2,
});
const rule: fc.Arbitrary<BodyRuleInput> = fc.oneof(
  fc.record({ mode: fc.constantFrom('overwrite' as const, 'add-if-absent' as const, 'append' as const), path, value }),
  fc.record({ mode: fc.constant('remove' as const), path }),
  fc.record({ mode: fc.constant('append-if-missing' as const), path, value, condition: fc.record({ scope: fc.option(path, { nil: null }), where }) }),
  fc.record({ mode: fc.constant('remove-matching' as const), path, condition: fc.record({ where }) }),
  fc.record({ mode: fc.constant('strip-lines' as const), path, value: fc.constantFrom('x', 'y', '{{request_id}}') }),
  fc.record({ mode: fc.constant('filter-content-types' as const), path, value: fc.constantFrom('image', 'x') }),
) as fc.Arbitrary<BodyRuleInput>;

const isTaken = (rules: readonly BodyRuleInput[]): boolean => checkRules(rules as never).length === 0;

/** How many rules did something; null where a key is repeated whose value one of them looks at, without which none is refused. */
function applied(rules: readonly BodyRuleInput[], text: string): number | null {
  try {
    return tryRules(rules, text).applied;
  } catch (error) {
    if (!(error instanceof RepeatedKey)) throw error;
    tryRules(rules, JSON.stringify(JSON.parse(text)));
    return null;
  }
}

test('any rules over any body', () => {
  let changed = 0;
  let refused = 0;
  fc.assert(
    fc.property(body, fc.array(rule, { minLength: 1, maxLength: 4 }).filter(isTaken), (text, rules) => {
      const count = applied(rules, text);
      if (count === null) refused++;
      else if (count > 0) changed++;
    }),
    { numRuns: 4000 },
  );
  // Most of what is tried means something.
  expect(changed).toBeGreaterThan(1000);
  expect(refused).toBeGreaterThan(10);
}, 300_000);

describe('rules that know the protocol', () => {
  const content = fc.oneof(
    fc.constantFrom('"text"', 'null', '7', '{"type":"image"}'),
    fc
      .array(
        fc.constantFrom(
          '{"type":"text","text":"a"}',
          '{"type":"image","source":{"data":"QUJD"}}',
          '{"type":"tool_result","content":[{"type":"image"},{"type":"text"}]}',
          '{"image":{"format":"png"}}',
          '{"inlineData":{"mimeType":"image/png"}}',
          '{"functionResponse":{"parts":[{"inline_data":{"mime_type":"image/png"}}]}}',
          'null',
        ),
        { maxLength: 3 },
      )
      .map((blocks) => `[${blocks.join(', ')}]`),
  );
  const message = fc
    .tuple(fc.constantFrom('"system"', '"user"', '"developer"', '7'), content)
    .map(([role, held]) => `{"role": ${role}, "content": ${held}, "parts": ${held}}`);
  const messages = fc.array(fc.oneof(message, fc.constantFrom('null', '"x"')), { maxLength: 3 }).map((items) => `[${items.join(',')}]`);
  const tools = fc.constantFrom(
    '[{"name":"x","function":{"name":"x"}}, {"name":"y","function":{"name":"y"},"toolSpec":{"name":"x"}}]',
    '[{"functionDeclarations":[{"name":"x"}]},{"googleSearch":{}}]',
    '[]',
    '{}',
  );
  const whole = fc
    .tuple(messages, messages, tools, fc.oneof(content, fc.constant('{"parts":{"text":"x"}}')))
    .map(
      ([first, second, listed, system]) =>
        `{"tools":${listed}, "messages" : ${first},"contents":${second},"input":{"messages":${second}},"parameters":{"tools":${listed}},"system":${system},"systemInstruction":${system},"instructions":${system},"tool_choice":{"name":"x"},"toolConfig":{"tools":${listed},"toolChoice":{"tool":{"name":"x"}}}}`,
    );
  const knowing: fc.Arbitrary<BodyRuleInput> = fc.oneof(
    fc.record({ mode: fc.constant('filter-content-types' as const), value: fc.constantFrom<unknown>('image', ['image', 'text', 'inlineData']) }),
    fc.record({ mode: fc.constant('filter-tools' as const), value: fc.constantFrom<unknown>('x', '*', { keep: ['y'] }) }),
    fc.record({ mode: fc.constant('inject-system-prompt' as const), value: fc.constant('Be brief.') }),
    fc.record({
      mode: fc.constant('overwrite' as const),
      path: fc.constantFrom('messages.0.role', 'messages.1.content', 'tools.0.x'),
      value: fc.constant('w'),
    }),
  ) as fc.Arbitrary<BodyRuleInput>;
  test.each<ProtocolId>(['alpha', 'alpha_response', 'beta', 'gamma', 'delta', 'cloudhost_converse'])(
    '%s',
    (id) => {
      fc.assert(
        fc.property(whole, fc.array(knowing, { minLength: 1, maxLength: 4 }), (text, rules) => {
          tryRules(rules, text, layoutOf(id));
        }),
        { numRuns: 400 },
      );
    },
    300_000,
  );
});

describe('what is read', () => {
  const read = (text: string, needs: ConstructorParameters<typeof Projection>[0]) => new Projection(needs).read(Buffer.from(text)).value;
  test('is what was asked for, and nothing else', () => {
    const text = '{"a":{"b":[1,{"c":"deep"}],"x":{"y":1}},"s":"long","n":null,"big":[1,2,3],"t":true}';
    expect(
      read(text, [
        { path: ['a', 'b', '*', 'c'], depth: 'value' },
        { path: ['s'], depth: 'place' },
        { path: ['n'], depth: 'place' },
        { path: ['big'], depth: 'length' },
        { path: ['t'], depth: 'text' },
        { path: ['absent'], depth: 'value' },
      ]),
    ).toEqual({ a: { b: [unread, { c: 'deep' }] }, s: unread, n: null, big: [unread, unread, unread], t: unread });
  });
  test('of what is compared, what may be equal', () => {
    const needs = [{ path: ['*'], depth: { like: 'abc' } }] as const;
    expect(read(`{"a":"abc","b":"\\u0061\\u0062\\u0063","c":"${'x'.repeat(50)}","d":{"e":1},"f":1}`, needs)).toEqual({
      a: 'abc',
      b: 'abc',
      c: unread,
      d: unread,
      f: 1,
    });
  });
  test('without keys of prototypes', () => {
    const value = read('{"__proto__":{"x":1},"a":1,"b":{"__proto__":{"x":1}},"constructor":3}', [{ path: ['*'], depth: 'value' }]) as object;
    expect(Object.keys(value)).toEqual(['a', 'b']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
  test.each([
    ['{"a":1,"\\u0061":2}', ['a'], 'a'],
    ['{"m":[{"b":1}],"m":[]}', ['m', '*', 'b'], 'm'],
    ['{"m":[{"b":1},{"b":[],"c":{},"b":3}]}', ['m', '*', 'b'], 'b'],
    ['{"m":[{"b":1},{"c":"a:\\":","d":{"e":[{"f":1,"f":1}]}}]}', ['m'], undefined],
  ])('and refuses a key that is repeated where its value is looked at: %s', (text, path, key) => {
    expect(() => read(text, [{ path, depth: 'value' }])).toThrow(expect.objectContaining({ name: 'Error', key }));
    // That something is there is the same, whichever of them is read.
    expect(read(text, [{ path: [path[0]!], depth: 'place' }])).toEqual({ [path[0]!]: unread });
  });
  test.each(['{"a":', '{"a" 1}', '{"a":"\\x"}', '{"a":[1}', '{a:1}', '{"a":tru}'])('and refuses %s', (text) => {
    expect(() =>
      read(text, [
        { path: ['a', '0'], depth: 'value' },
        { path: ['a'], depth: 'value' },
      ]),
    ).toThrow(SyntaxError);
  });
});
