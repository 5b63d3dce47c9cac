/** Streams that send pieces and streams that repeat themselves give the same text. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Increments } from './increments.ts';

interface Event {
  piece: string;
  tokens?: number;
}

function read(events: readonly Event[], json = false): string {
  const increments = new Increments({ mode: 'unknown' }, json);
  let before: number | undefined;
  let out = '';
  events.forEach(({ piece, tokens }, at) => {
    const grew = tokens === undefined || before === undefined ? undefined : tokens > before;
    before = tokens ?? before;
    out += increments.push(piece, { grew, last: at === events.length - 1 });
  });
  return out + increments.finish();
}

const pieces = (...texts: string[]): Event[] => texts.map((piece) => ({ piece }));
const sums = (texts: readonly string[]): string[] => texts.map((_, at) => texts.slice(0, at + 1).join(''));

describe('pieces', () => {
  test.each([
    ['plain', ['Hel', 'lo', ' world', '']],
    ['a laugh', ['ha', 'ha', 'ha!', '']],
    ['a piece that begins like everything so far', ['1', '1+', ' = 2', '']],
    ['twice the same, then the end', ['ha', 'ha', '']],
    ['one piece', ['Hi']],
    ['nothing', ['']],
  ])('%s', (_name, texts) => expect(read(pieces(...texts))).toBe(texts.join('')));

  test('a recap at the end is not said twice', () => {
    const text = ['A sentence that is ', 'long enough.'];
    expect(read([...text.map((piece, at) => ({ piece, tokens: at + 1 })), { piece: text.join(''), tokens: 2 }])).toBe(text.join(''));
  });

  test('property: never loses or repeats, when the last event is empty', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 }), (texts) => {
        // Two repetitions in a row of all that was said are taken for the other manner: no text does that.
        fc.pre(!(texts.length > 2 && texts[1]!.startsWith(texts[0]!) && texts[2]!.startsWith(texts[1]!)));
        const counted = texts.map((piece, at) => ({ piece, tokens: at + 1 }));
        expect(read([...counted, { piece: '', tokens: texts.length }])).toBe(texts.join(''));
      }),
    );
  });
});

describe('repetitions', () => {
  test.each([
    ['plain', ['Hel', 'Hello', 'Hello world', 'Hello world']],
    ['short from the beginning to the end', ['1', '1+', '1+1', '1+1']],
    ['one word, said twice', ['Hi', 'Hi']],
    ['empty first', ['', '', 'A', 'A B', 'A B C']],
  ])('%s', (_name, texts) => expect(read(texts.map((piece, at) => ({ piece, tokens: Math.min(at + 1, texts.length - 1) })))).toBe(texts.at(-1)));

  test('arguments are known by their brace', () => expect(read(pieces('{', '{"a"', '{"a":1}', '{"a":1}'), true)).toBe('{"a":1}'));

  test('a text that is changed afterwards is never said twice', () =>
    expect(read(pieces('A text of some length', 'A text of some length that grows', 'a text of some length, that grew on'))).toMatch(
      /^A text of some length that grows/,
    ));

  test('property: the last event is the text', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 12 }), (texts) => {
        const whole = sums(texts);
        expect(read(pieces(...whole, whole.at(-1)!))).toBe(whole.at(-1));
      }),
    );
  });
});

test('the manner of one text is that of the next', () => {
  const manner = { mode: 'unknown' as const };
  const context = { grew: true, last: false };
  const reasoning = new Increments(manner);
  for (const piece of ['A thought that is long', 'A thought that is long enough']) reasoning.push(piece, context);
  const text = new Increments(manner);
  expect(['o', 'ok', 'ok!'].map((piece) => text.push(piece, context))).toEqual(['o', 'k', '!']);
});

test('long streams cost what their bytes do', () => {
  const increments = new Increments({ mode: 'unknown' });
  const started = process.cpuUsage();
  for (let at = 0; at < 200_000; at++) increments.push(`word${at} `, { grew: true, last: false });
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(10_000);
});
