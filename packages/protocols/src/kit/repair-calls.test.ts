/** Histories whose calls and results do not fit together, and what every vendor can take instead. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Conversation, Part, Turn } from '../chat/conversation.ts';
import { repairCalls } from './repair-calls.ts';

const call = (id: string): Part => ({ type: 'tool-call', id, name: `f${id}`, arguments: '{}' });
const result = (callId: string): Part => ({ type: 'tool-result', callId, content: [{ type: 'text', text: `r${callId}` }] });
const text = (words: string): Part => ({ type: 'text', text: words });
const user = (...parts: Part[]): Turn => ({ role: 'user', parts });
const assistant = (...parts: Part[]): Turn => ({ role: 'assistant', parts });
const talk = (...turns: Turn[]): Conversation => ({ system: [], turns, tools: [], sampling: {}, stream: false });
/** Turns in short: who speaks, and what. */
const short = (turns: readonly Turn[]): string[] =>
  turns.map(({ role, parts }) =>
    [
      role[0],
      ...parts.map((part) =>
        part.type === 'tool-call'
          ? `c${part.id}`
          : part.type === 'tool-result'
            ? `${part.isError ? '!' : 'r'}${part.callId}`
            : 'text' in part
              ? part.text
              : part.type,
      ),
    ].join(' '),
  );
const repaired = (...turns: Turn[]) => {
  const found = repairCalls(talk(...turns));
  return found && { turns: short(found.conversation.turns), losses: found.losses.map(({ action }) => action) };
};

describe('repairs', () => {
  test('a sound history is left alone, parallel calls and text after results included', () => {
    expect(repaired(user(text('q')), assistant(text('a'), call('1'), call('2')), user(result('2'), result('1'), text('go')), assistant(text('b')))).toBeNull();
  });

  test('a history that ends in calls has them answered, as every vendor refuses them open', () => {
    expect(repaired(user(text('q')), assistant(call('1')))?.turns).toEqual(['u q', 'a c1', 'u !1']);
  });

  test('a call that nobody answered is answered for the caller', () => {
    expect(repaired(user(text('q')), assistant(call('1'), call('2')), user(result('1'), text('go on')))).toEqual({
      turns: ['u q', 'a c1 c2', 'u r1 !2 go on'],
      losses: ['emulated'],
    });
    expect(repaired(user(text('q')), assistant(call('1')), user(text('stop')), assistant(text('ok')))).toEqual({
      turns: ['u q', 'a c1', 'u !1 stop', 'a ok'],
      losses: ['emulated'],
    });
    expect(repaired(assistant(call('1')), assistant(text('so')), user(text('x')))?.turns).toEqual(['a c1 so', 'u !1 x']);
  });

  test('a result without its call becomes text', () => {
    expect(repaired(user(text('q')), user(result('9')), assistant(text('a')))).toEqual({ turns: ['u q', 'u [tool result] r9', 'a a'], losses: ['downgraded'] });
    expect(repaired(assistant(call('1')), user(result('1'), result('1')))?.turns).toEqual(['a c1', 'u r1 [tool result] r1']);
  });

  test('a result without an id answers the call of its name, though that one has an id', () => {
    const named = (name: string): Part => ({ type: 'tool-result', callId: '', name, content: [text(`r${name}`) as never] });
    expect(repaired(assistant(call('1'), call('2')), user(named('f2'), named('f1')))).toEqual({ turns: ['a c1 c2', 'u r2 r1'], losses: [] });
    expect(repaired(assistant(call('1')), user(result('')))?.turns).toEqual(['a c1', 'u r1']);
    expect(repaired(user(text('q')), user(named('f1'), text('go')))).toEqual({ turns: ['u q', 'u [tool result: f1] rf1 go'], losses: ['downgraded'] });
    expect(repaired(assistant(call('')), user(named('f'), named('f')))?.turns).toEqual(['a ccall_n1', 'u rcall_n1 [tool result: f] rf']);
  });

  test('a result without an id whose name no call has answers the oldest call without an id', () => {
    const nameless: Part = { type: 'tool-call', id: '', name: 'default_api.f', arguments: '{}' };
    const answer: Part = { type: 'tool-result', callId: '', name: 'f', content: [{ type: 'text', text: 'r' }] };
    expect(repaired(user(text('q')), assistant(nameless), user(answer))).toEqual({ turns: ['u q', 'a ccall_n1', 'u rcall_n1'], losses: [] });
    const late = repaired(user(text('q')), assistant(nameless), user(answer), assistant(call('1'), nameless), user(result('1')), user(answer));
    expect(late).toEqual({ turns: ['u q', 'a ccall_n1', 'u rcall_n1', 'a c1 ccall_n2', 'u r1 rcall_n2'], losses: [] });
    const mixed: Part = { ...answer, name: 'f1' } as Part;
    expect(repaired(user(text('q')), assistant(call('1'), nameless), user(mixed, answer), user(result('gone')))?.turns).toEqual([
      'u q',
      'a c1 ccall_n1',
      'u r1 rcall_n1',
      'u [tool result] rgone',
    ]);
  });

  test('a call without an id has one, the same each time, and is answered like any other', () => {
    const history = [user(text('q')), assistant(call(''), call('call_n1')), user(result('call_n1'), text('stop'))];
    const found = { turns: ['u q', 'a ccall_n2 ccall_n1', 'u rcall_n1 !call_n2 stop'], losses: ['emulated'] };
    expect(repaired(...history)).toEqual(found);
    expect(repaired(...history, assistant(text('a')), user(text('b')))?.turns.slice(0, 3)).toEqual(found.turns);
  });

  test('a result without an id takes no call that another result means by its id', () => {
    const again: Part = { type: 'tool-result', callId: '', name: 'f1', content: [{ type: 'text', text: 'again' }] };
    expect(repaired(user(text('q')), assistant(call('1'), call('2')), user(result('1'), again, result('2')))).toEqual({
      turns: ['u q', 'a c1 c2', 'u r1 r2 [tool result: f1] again'],
      losses: ['downgraded'],
    });
    expect(repaired(user(text('q')), assistant(call('1'), call('2')), user(again, result('1')))?.turns).toEqual(['u q', 'a c1 c2', 'u r2 r1']);
  });

  test('results that come late, or apart, are gathered right after their calls', () => {
    const system: Turn = { role: 'system', parts: [text('s')] };
    expect(repaired(assistant(call('1'), call('2')), user(result('1')), system, user(result('2'), text('go')))?.turns).toEqual([
      'a c1 c2',
      'u r1 r2',
      's s',
      'u go',
    ]);
    expect(repaired(assistant(call('1')), assistant(call('2')), user(result('1')), user(result('2')))?.turns).toEqual(['a c1 c2', 'u r1 r2']);
  });

  test('what is repaired needs no repair, and nothing that was said is lost', () => {
    const part = fc.oneof(fc.constantFrom('1', '2', '3').map(call), fc.constantFrom('1', '2', '3', '4').map(result), fc.constantFrom('x', 'y').map(text));
    const turn = fc.tuple(fc.constantFrom('user', 'assistant', 'system'), fc.array(part, { minLength: 1, maxLength: 4 })).map(
      ([role, parts]): Turn => ({
        role: role as Turn['role'],
        // Readers let no side say what is the other's.
        parts: parts.map((one) =>
          one.type === 'tool-call' && role !== 'assistant' ? text('x') : one.type === 'tool-result' && role !== 'user' ? text('y') : one,
        ),
      }),
    );
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 8 }), (turns) => {
        // One id may be called again once it was answered; twice at once is another check's affair.
        const ids = turns.map(({ parts }) => parts.filter((one) => one.type === 'tool-call').map((one) => one.id));
        fc.pre(new Set(ids.flat()).size === ids.flat().length);
        const before = structuredClone(turns);
        const found = repairCalls(talk(...turns));
        expect(turns).toEqual(before);
        if (!found) return;
        expect(repairCalls(found.conversation)).toBeNull();
        const words = (list: readonly Turn[]) =>
          JSON.stringify(list)
            .match(/"r\d"|"x"|"y"/g)
            ?.sort() ?? [];
        expect(words(found.conversation.turns)).toEqual(words(turns));
      }),
      { numRuns: 1000 },
    );
  });
});
