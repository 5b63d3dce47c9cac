/** What requests ask of the store of turns, and what is stored of them. */
import { describe, expect, test } from '@jest/globals';
import { turns } from './index.ts';

let minted = 0;
const mintId = (prefix: string): string => `${prefix}${String(++minted).padStart(24, 'a')}`;
const none = new Map<string, unknown>();
const paramOf = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    const { status, param } = error as { status: number; param: string };
    return `${status} ${param}`;
  }
};

describe('wishes', () => {
  test.each([
    [{ input: 'Hi' }, { store: true, background: false, references: [] }],
    [
      { store: null, background: null, previous_response_id: null, conversation: null },
      { store: true, background: false, references: [] },
    ],
    [
      { store: false, previous_response_id: 'resp_1' },
      { store: false, background: false, references: [], previous: 'resp_1' },
    ],
    [{ conversation: 'conv_1' }, { store: true, background: false, references: [], conversation: 'conv_1' }],
    [
      { conversation: { id: 'conv_1' }, background: true },
      { store: true, background: true, references: [], conversation: 'conv_1' },
    ],
    [
      { input: [{ type: 'item_reference', id: 'msg_1' }, { id: 'fc_1' }, { id: 'fc_1', type: null }, { id: 'rs_1', type: 'reasoning' }, 'text'] },
      { store: true, background: false, references: ['msg_1', 'fc_1'] },
    ],
  ])('%j', (body, wishes) => {
    expect(turns.readWishes(body)).toEqual(wishes);
  });

  test.each([
    [[], ''],
    [{ store: 'yes' }, 'store'],
    [{ background: 1 }, 'background'],
    [{ previous_response_id: 7 }, 'previous_response_id'],
    [{ previous_response_id: '' }, 'previous_response_id'],
    [{ conversation: ['conv_1'] }, 'conversation'],
    [{ conversation: {} }, 'conversation.id'],
    [{ conversation: 'conv_1', previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ input: ['a', { type: 'item_reference' }] }, 'input.1.id'],
  ])('%j names the field', (body, param) => {
    expect(paramOf(() => turns.readWishes(body))).toBe(`400 ${param}`);
  });

  test('references are bounded', () => {
    const input = Array.from({ length: 50_001 }, (_, at) => ({ type: 'item_reference', id: `msg_${at}` }));
    expect(paramOf(() => turns.readWishes({ input }))).toBe('400 input.50000');
    expect(turns.readWishes({ input: input.slice(1) }).references).toHaveLength(50_000);
  });

  test.each([
    [{ input: [{ id: 'msg_1' }], store: false }, true],
    [{ input: [{ id: 'msg_1', type: null }] }, true],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, true],
    [{ previous_response_id: 'resp_1' }, true],
    [{ conversation: 'conv_1' }, true],
    [{ input: [{ id: 'msg_1', role: 'user', content: 'x' }], tools: [{ id: 'x' }] }, false],
    [{ input: 'id' }, false],
    [{}, false],
  ])('%j may refer to something stored: %s', (body, may) => {
    const text = JSON.stringify(body);
    const value = (key: string): Buffer | undefined => (key in body ? Buffer.from(JSON.stringify((body as Record<string, unknown>)[key])) : undefined);
    expect(turns.mayRefer({ contains: (word) => text.includes(word), value })).toBe(may);
  });
});

describe('items of a request', () => {
  test('each has an id of its own: the caller’s, or one of the vendor’s form', () => {
    const input = [
      'text',
      { role: 'user', content: 'Hi', id: 'msg_mine' },
      { role: 'user', content: 'Hi', id: 'msg_mine' },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: '1' },
      { type: 'from_the_future' },
      { type: 'item_reference', id: 'msg_old' },
    ];
    const items = turns.inputItems({ input }, mintId, new Map([['msg_old', { type: 'message', role: 'user', content: 'Old', id: 'msg_old' }]]));
    expect(items.map((item) => String((item as { id: string }).id).replace(/a+\d+$/, ''))).toEqual([
      'msg_',
      'msg_mine',
      'msg_',
      'fc_',
      'fco_',
      'item_',
      'msg_old',
    ]);
    expect(items[0]).toMatchObject({ type: 'message', role: 'user', content: 'text' });
    expect(items[6]).toMatchObject({ content: 'Old' });
    expect(input[3]).not.toHaveProperty('id');
    expect(turns.inputItems({ input: 'Hi' }, mintId, none)).toEqual([{ type: 'message', role: 'user', content: 'Hi', id: expect.stringMatching(/^msg_/) }]);
    expect(turns.inputItems({ previous_response_id: 'resp_1' }, mintId, none)).toEqual([]);
  });

  test('what is no item is refused by its place', () => {
    expect(paramOf(() => turns.inputItems({ input: ['a', 7] }, mintId, none))).toBe('400 input.1');
    expect(paramOf(() => turns.inputItems({ input: 7 }, mintId, none))).toBe('400 input');
    expect(paramOf(() => turns.inputItems({ input: [{ type: 'item_reference', id: 'msg_x' }] }, mintId, none))).toBe('404 input.0');
  });
});

describe('expansion', () => {
  const [user] = turns.inputItems({ input: 'First' }, mintId, none) as [{ id: string }];
  const answer = { type: 'message', role: 'assistant', id: 'msg_out', status: 'completed', content: [{ type: 'output_text', text: 'One', annotations: [] }] };
  const body = { model: 'm', input: 'Second', previous_response_id: 'resp_1', store: true, background: true };

  test('is what the caller would have sent: history, then the input, without the names of what is stored', () => {
    expect(turns.expand(body, [user, answer], none)).toEqual({
      model: 'm',
      input: [{ type: 'message', role: 'user', content: 'First' }, answer, { type: 'message', role: 'user', content: 'Second' }],
      store: true,
      background: true,
    });
    expect(body.input).toBe('Second');
    expect(turns.expand({ input: 'Hi', conversation: 'conv_1' }, [], none)).toEqual({ input: 'Hi' });
    expect(turns.expand({ previous_response_id: 'resp_1' }, [answer], none)).toEqual({ input: [answer] });
    expect(paramOf(() => turns.expand({ input: 7 }, [answer], none))).toBe('400 input');
  });

  test('replaces references, and leaves the caller’s own items as they are', () => {
    const own = { type: 'message', role: 'user', content: 'x', id: mintId('msg_') };
    const output = { type: 'function_call_output', call_id: 'c', output: '1', id: mintId('fco_') };
    const expanded = turns.expand({ input: [{ id: 'msg_out' }, { type: 'item_reference', id: 'fco_1' }, own] }, [], new Map<string, unknown>([['msg_out', answer], ['fco_1', output]])); // biome-ignore format: one line
    expect(expanded).toEqual({ input: [answer, { type: 'function_call_output', call_id: 'c', output: '1' }, own] });
    expect(paramOf(() => turns.expand({ input: [{ type: 'item_reference', id: 'msg_none' }] }, [], none))).toBe('404 input.0');
  });

  test('a call that was cut is left out unless it was answered; reasoning loses its status', () => {
    const cut = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{"a', status: 'incomplete' };
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], status: 'incomplete' };
    expect(turns.expand({ input: 'Go on' }, [reasoning, answer, cut], none)).toEqual({
      input: [{ type: 'reasoning', id: 'rs_1', summary: [] }, answer, { type: 'message', role: 'user', content: 'Go on' }],
    });
    const output = { type: 'function_call_output', call_id: 'c', output: '1' };
    expect(turns.expand({ input: [output] }, [cut], none)).toEqual({ input: [cut, output] });
  });

  test('items of compaction stay in the history', () => {
    const compaction = { type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' };
    expect(turns.expand({ input: 'x' }, [user, compaction], none)).toMatchObject({ input: [{ content: 'First' }, compaction, { content: 'x' }] });
  });
});
