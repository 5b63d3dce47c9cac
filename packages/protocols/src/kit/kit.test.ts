/** The small helpers that several protocols lean on. */
import { describe, expect, test } from '@jest/globals';
import type { Conversation, Part } from '../chat/conversation.ts';
import { pairCallIds } from './call-ids.ts';
import { readDataUrl } from './data-url.ts';
import { Losses } from './losses.ts';
import { asCount, asObject, own } from './read.ts';
import { shortId } from './short-id.ts';

test('own reads no prototype and takes null for absent', () => {
  expect(own({ a: null, b: 0 }, 'a')).toBeUndefined();
  expect(own({ a: null, b: 0 }, 'b')).toBe(0);
  for (const value of [{}, [], null, 'text', 5]) expect(own(value, 'constructor')).toBeUndefined();
  expect(own(JSON.parse('{"__proto__":{"x":1}}'), 'x')).toBeUndefined();
  expect([asObject([]), asCount('9'), asCount(-1), asCount(2.9), asCount(Number.NaN), asCount(1e308)]).toEqual([undefined, 0, 0, 2, 0, 1e12]);
});

test('long ids become short, the same every time, and differ', () => {
  const long = 'x'.repeat(65);
  expect(shortId('x'.repeat(64))).toBe('x'.repeat(64));
  expect(shortId(long)).toBe(shortId(long));
  expect(shortId(long)).toMatch(/^call_[0-9a-f]{32}$/);
  expect(new Set(Array.from({ length: 2000 }, (_, i) => shortId(`${long}${i}`))).size).toBe(2000);
});

test('data URLs', () => {
  expect(readDataUrl('data:image/PNG;name=a;base64,AA==')).toEqual({ mimeType: 'image/png', data: 'AA==' });
  expect(readDataUrl('DATA:;base64,AA')).toEqual({ mimeType: 'text/plain', data: 'AA' });
  for (const url of ['https://x', 'data:text/plain,hello', 'data:', '']) expect(readDataUrl(url)).toBeNull();
});

test('each loss is declared once and their number is bounded', () => {
  const losses = new Losses();
  for (let i = 0; i < 500; i++) losses.add(`field${i % 200}`, 'dropped', 'x');
  expect(losses.list).toHaveLength(64);
});

describe('call ids', () => {
  const call = (id: string, name: string): Part => ({ type: 'tool-call', id, name, arguments: '' });
  const result = (callId: string, name?: string): Part => ({ type: 'tool-result', callId, content: [], ...(name !== undefined && { name }) });
  function pair(...turns: Part[][]): (string | undefined)[] {
    let next = 0;
    const conversation = { turns: turns.map((parts) => ({ role: 'user', parts })) } as unknown as Conversation;
    const ids = pairCallIds(conversation, { fit: (id) => id.toUpperCase(), mint: () => `minted${++next}` });
    return turns.flat().map((part) => ids.get(part as never));
  }

  test('given ids are fitted alike', () => expect(pair([call('a', 'f')], [result('a')])).toEqual(['A', 'A']));
  test('missing ids pair by name, then by order', () => {
    expect(pair([call('', 'f'), call('', 'g'), call('', 'f')], [result('', 'g'), result(''), result('', 'f')])).toEqual([
      'minted1',
      'minted2',
      'minted3',
      'minted2',
      'minted1',
      'minted3',
    ]);
  });
  test('an answered call is not answered again', () =>
    expect(pair([call('a', 'f')], [result('a')], [call('', 'f')], [result('', 'f')])).toEqual(['A', 'A', 'minted1', 'minted1']));
  test('a result without any call gets an id of its own', () => expect(pair([result('')])).toEqual(['minted1']));
});
