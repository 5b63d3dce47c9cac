/** Calls on stored turns and conversations: what they ask, and how they are answered. */
import { describe, expect, test } from '@jest/globals';
import { turns } from './index.ts';

const { calls } = turns;
let minted = 0;
const mintId = (prefix: string): string => `${prefix}${++minted}`;
const paramOf = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    const { status, param } = error as { status: number; param: string };
    return `${status} ${param}`;
  }
};

describe('lists', () => {
  const items = Array.from({ length: 7 }, (_, at) => ({ type: 'function_call_output', id: `fco_${at}`, call_id: 'c', output: '' }));
  interface Page {
    object: string;
    data: { id: string }[];
    first_id: string;
    last_id: string;
    has_more: boolean;
  }
  const all = (query: string): string[][] => {
    const pages: string[][] = [];
    for (let after = ''; ; ) {
      const { data, has_more, first_id, last_id, object } = calls.page(items, calls.readList(query + after)) as Page;
      expect([object, first_id, last_id]).toEqual(['list', data[0]?.id, data.at(-1)?.id]);
      pages.push(data.map(({ id }) => id));
      if (!has_more) return pages;
      after = `&after=${last_id}`;
    }
  };

  test('pages in both orders', () => {
    expect(all('limit=2&order=asc')).toEqual([['fco_0', 'fco_1'], ['fco_2', 'fco_3'], ['fco_4', 'fco_5'], ['fco_6']]);
    expect(all('limit=3&include[]=message.output_text.logprobs&include[]=x')).toEqual([['fco_6', 'fco_5', 'fco_4'], ['fco_3', 'fco_2', 'fco_1'], ['fco_0']]);
    expect(all('')).toHaveLength(1);
    expect(calls.page([], calls.readList(''))).toEqual({ object: 'list', data: [], first_id: null, last_id: null, has_more: false });
    expect(calls.page(items, calls.readList('limit=7'))).toMatchObject({ has_more: false });
  });

  test.each(['limit=0', 'limit=101', 'limit=-1', 'limit=1.5', 'limit=', 'limit=ten', 'order=up', 'after='])('%s is refused by name', (query) => {
    expect(paramOf(() => calls.readList(query))).toBe(`400 ${query.split('=')[0]}`);
  });

  test('an item that is not in the list is refused', () => {
    expect(paramOf(() => calls.page(items, calls.readList('after=fco_9')))).toBe('400 after');
  });

  test('messages are shown in the vendor’s form', () => {
    const shown = calls.list(
      [
        { id: 'msg_1', role: 'user', content: 'Hi' },
        { id: 'msg_2', type: 'message', role: 'assistant', content: 'Yes' },
      ],
      true,
    );
    expect(shown).toEqual({
      object: 'list',
      data: [
        { id: 'msg_1', type: 'message', status: 'completed', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
        {
          id: 'msg_2',
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Yes', annotations: [], logprobs: [] }],
        },
      ],
      first_id: 'msg_1',
      last_id: 'msg_2',
      has_more: true,
    });
  });
});

test('streams taken up again', () => {
  expect(calls.readResume('')).toEqual({ stream: false });
  expect(calls.readResume('stream=false')).toEqual({ stream: false });
  expect(calls.readResume('stream=true&include_obfuscation=false')).toEqual({ stream: true });
  expect(calls.readResume('stream=True&starting_after=12')).toEqual({ stream: true, after: 12 });
  for (const query of ['stream=true&starting_after=-1', 'stream=true&starting_after=x', 'stream=true&starting_after=', 'starting_after=3'])
    expect(paramOf(() => calls.readResume(query))).toBe('400 starting_after');
  expect(paramOf(() => calls.readResume('stream=maybe'))).toBe('400 stream');
});

describe('conversations', () => {
  test('may be created from nothing, or from items and metadata', () => {
    expect(calls.readNewConversation(undefined, mintId)).toEqual({ items: [], metadata: {} });
    expect(calls.readNewConversation({ items: null, metadata: null }, mintId)).toEqual({ items: [], metadata: {} });
    expect(calls.readNewConversation({ items: [{ role: 'user', content: 'Hi' }], metadata: { topic: 'x' } }, mintId)).toEqual({
      items: [{ role: 'user', content: 'Hi', id: expect.stringMatching(/^msg_/) }],
      metadata: { topic: 'x' },
    });
    expect(calls.readConversationUpdate({ metadata: { a: '1' } })).toEqual({ metadata: { a: '1' } });
    expect(calls.readConversationUpdate({ metadata: null })).toEqual({ metadata: {} });
  });

  const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));
  test.each<[unknown, string]>([
    [[], ''],
    [{ items: 'text' }, 'items'],
    [{ items: Array(21).fill({ role: 'user', content: '' }) }, 'items'],
    [{ items: ['text'] }, 'items.0'],
    [{ items: [{ type: 'item_reference', id: 'msg_1' }] }, 'items.0'],
    [{ items: [{ content: 'x' }] }, 'items.0.type'],
    [{ items: [{ role: 'nobody', content: 'x' }] }, 'items.0.role'],
    [{ items: [{ role: 'user', content: 'x' }, { role: 'user' }] }, 'items.1.content'],
    [{ items: [{ role: 'user', content: [{ text: 'x' }] }] }, 'items.0.content.0.type'],
    [{ items: [{ type: 'function_call', call_id: 'call_1', arguments: '{}' }] }, 'items.0.name'],
    [{ items: [{ type: 'compaction_trigger' }] }, 'items.0'],
    [{ metadata: [] }, 'metadata'],
    [{ metadata: pairs(17) }, 'metadata'],
    [{ metadata: { ['k'.repeat(65)]: '' } }, 'metadata'],
    [{ metadata: { k: 'v'.repeat(513) } }, 'metadata'],
    [{ metadata: { k: 1 } }, 'metadata'],
  ])('%j is refused by name', (body, param) => {
    expect(paramOf(() => calls.readNewConversation(body, mintId))).toBe(`400 ${param}`);
  });

  test('updates and added items must say something', () => {
    expect(paramOf(() => calls.readConversationUpdate({}))).toBe('400 metadata');
    expect(paramOf(() => calls.readConversationUpdate(undefined))).toBe('400 ');
    expect(paramOf(() => calls.readNewItems({ items: [] }, mintId))).toBe('400 items');
    expect(paramOf(() => calls.readNewItems({}, mintId))).toBe('400 items');
    expect(calls.readNewItems({ items: Array(20).fill({ role: 'user', content: 'x', id: 'msg_same' }) }, mintId)).toHaveLength(20);
    expect(calls.readNewConversation({ metadata: pairs(16) }, mintId).metadata).toEqual(pairs(16));
  });

  test('answers', () => {
    expect(calls.conversation('conv_1', 1_777_431_482_900, { a: 'b' })).toEqual({
      id: 'conv_1',
      object: 'conversation',
      created_at: 1_777_431_482,
      metadata: { a: 'b' },
    });
    expect(calls.conversationDeleted('conv_1')).toEqual({ id: 'conv_1', object: 'conversation.deleted', deleted: true });
    expect(calls.deleted('resp_1')).toEqual({ id: 'resp_1', object: 'response.deleted', deleted: true });
  });
});
