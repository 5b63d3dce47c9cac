import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ReplyEmulation } from '../contract/index.ts';
import { fitsSchema } from '../kit/fits-schema.ts';
import type { ChatEvent } from './event.ts';
import { FenceStripper } from './fence-stripper.ts';
import { foldEvents } from './fold.ts';
import { OutputUnwrapper } from './unwrap-output.ts';

const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false };
const end: ChatEvent[] = [{ type: 'usage', usage: { input: 1, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 1, reasoning: 0 } }, { type: 'end' }];

function run(emulation: ReplyEmulation, events: ChatEvent[]): { text: string; blocks: string[]; finish: string; losses: number } {
  const unwrapper = new OutputUnwrapper(emulation);
  const message = foldEvents(events.flatMap((event) => unwrapper.read([event])));
  return {
    text: message.blocks
      .filter(({ start }) => start.type === 'text')
      .map(({ text }) => text)
      .join(''),
    blocks: message.blocks.map(({ start }) => start.type),
    finish: message.finish.reason,
    losses: unwrapper.losses.length,
  };
}
const text = (index: number, ...pieces: string[]): ChatEvent[] => [
  { type: 'block-start', index, block: { type: 'text' } },
  ...pieces.map((piece): ChatEvent => ({ type: 'text-delta', index, text: piece })),
  { type: 'block-end', index },
];
const call = (index: number, ...pieces: string[]): ChatEvent[] => [
  { type: 'block-start', index, block: { type: 'tool-call', id: 'c', name: 'structured_output' } },
  ...pieces.map((piece): ChatEvent => ({ type: 'arguments-delta', index, text: piece })),
  { type: 'block-end', index },
];

describe('field notes 17: emulated output leaks no wrapper', () => {
  const emulation = { tool: 'structured_output', schema };
  test('the forced tool’s arguments become the text, and the end is a natural one', () => {
    const events = [...text(0, 'Sure!'), ...call(1, '{"n"', ':1}'), { type: 'finish', reason: 'tool-calls' } as const, ...end];
    expect(run(emulation, events)).toEqual({ text: '{"n":1}', blocks: ['text'], finish: 'stop', losses: 0 });
  });
  test('words instead of a call are passed on, and judged', () => {
    const events = [...text(0, 'I cannot.'), { type: 'finish', reason: 'stop' } as const, ...end];
    expect(run(emulation, events)).toEqual({ text: 'I cannot.', blocks: ['text'], finish: 'stop', losses: 1 });
  });
  test('a reply that was cut stays cut', () => {
    const events = [...call(0, '{"n'), { type: 'finish', reason: 'length' } as const, ...end];
    expect(run(emulation, events)).toEqual({ text: '{"n', blocks: ['text'], finish: 'length', losses: 0 });
  });
  test('what misses the schema is declared', () => {
    const events = [...call(0, '{"n":"one"}'), { type: 'finish', reason: 'tool-calls' } as const, ...end];
    expect(run(emulation, events).losses).toBe(1);
  });
  test('thinking stays, and blocks are numbered anew', () => {
    const thinking: ChatEvent[] = [
      { type: 'block-start', index: 0, block: { type: 'thinking' } },
      { type: 'thinking-delta', index: 0, text: 'hm' },
      { type: 'block-end', index: 0 },
    ];
    const events = [...thinking, ...text(1, '```json\n{"n"', ':1}\n`', '``'), { type: 'finish', reason: 'stop' } as const, ...end];
    expect(run({ schema }, events)).toEqual({ text: '{"n":1}', blocks: ['thinking', 'text'], finish: 'stop', losses: 0 });
  });
});

describe('the fence', () => {
  const strip = (pieces: string[]): string => {
    const stripper = new FenceStripper();
    return pieces.map((piece) => stripper.push(piece)).join('') + stripper.end();
  };
  test.each([
    ['```json\n{"a":1}\n```', '{"a":1}'],
    ['\n```\n[1]\n```  \n', '[1]'],
    ['{"a":"```"}', '{"a":"```"}'],
    ['  {"a":1}\n', '  {"a":1}\n'],
    ['``', '``'],
    ['```js', '```js'],
    ['', ''],
  ])('%j', (given, expected) => {
    fc.assert(
      fc.property(fc.array(fc.nat(given.length), { maxLength: 6 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), given.length];
        expect(strip(at.slice(1).map((end, i) => given.slice(at[i], end)))).toBe(expected);
      }),
      { numRuns: 60 },
    );
  });
  test('endless blanks are not held', () => {
    const stripper = new FenceStripper();
    stripper.push('```json\n');
    let passed = 0;
    const began = process.cpuUsage();
    for (let i = 0; i < 100_000; i++) passed += stripper.push(' ').length;
    expect(passed).toBeGreaterThan(99_000);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(10_000);
  });
});

describe('fitsSchema', () => {
  test.each<[unknown, unknown, boolean]>([
    [{ n: 1 }, schema, true],
    [{ n: 1.5 }, schema, false],
    [{ n: 1, x: 2 }, schema, false],
    [{}, schema, false],
    [['a'], { type: 'array', items: { enum: ['a'] }, minItems: 1 }, true],
    [[], { type: 'array', minItems: 1 }, false],
    [null, { type: ['string', 'null'] }, true],
    [{ a: { b: 1 } }, { properties: { a: { $ref: '#/$defs/b' } }, $defs: { b: { required: ['b'] } } }, true],
    [{ a: {} }, { properties: { a: { $ref: '#/$defs/b' } }, $defs: { b: { required: ['b'] } } }, false],
    [3, { anyOf: [{ type: 'string' }, { minimum: 4 }] }, false],
    ['x', false, false],
    [0, { exclusiveMinimum: 0 }, false],
    [5, { exclusiveMaximum: 5 }, false],
    [{ a: 1 }, { minProperties: 2 }, false],
    [{ a: 1, b: 2 }, { maxProperties: 1 }, false],
    [{ toolong: 1 }, { propertyNames: { maxLength: 3 } }, false],
    ['x', { type: '__proto__', properties: 'no', required: 5, enum: null }, true],
  ])('%j against %j', (value, given, expected) => expect(fitsSchema(value, given)).toBe(expected));

  test('endless references and wide schemas end', () => {
    const loop = { $ref: '#' };
    expect(fitsSchema(1, loop)).toBe(true);
    const wide = { anyOf: Array.from({ length: 50 }, () => ({ $ref: '#' })), type: 'string' };
    const began = process.cpuUsage();
    fitsSchema({ a: 1 }, { allOf: Array.from({ length: 50 }, () => ({ $ref: '#' })) });
    fitsSchema({ a: 1 }, wide);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(10_000);
  });
});

test('a model that answers a forced tool with endless words is not held for ever', () => {
  const unwrapper = new OutputUnwrapper({ tool: 'structured_output', schema });
  unwrapper.read([{ type: 'block-start', index: 0, block: { type: 'text' } }]);
  let passed = 0;
  for (let i = 0; i < 10_000; i++)
    for (const event of unwrapper.read([{ type: 'text-delta', index: 0, text: 'word word ' }])) passed += 'text' in event ? event.text.length : 0;
  expect(passed).toBe(100_000);
});
