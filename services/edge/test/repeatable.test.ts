/** What is sent to a second aggregator when the first was lost with it. */
import { expect, test } from '@jest/globals';
import { isRepeatable } from '../src/mcp/repeatable.ts';

const ofMethod = (method: string): Buffer => Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method }));

test.each(['ping', 'tools/list', 'tools/search', 'server/discover', 'resources/read', 'prompts/get', 'completion/complete'])('%s is', (method) => {
  expect(isRepeatable('POST', ofMethod(method))).toBe(true);
});

test.each([
  ['a call of a tool', ofMethod('tools/call')],
  ['the beginning of a session', ofMethod('initialize')],
  ['a subscription', ofMethod('resources/subscribe')],
  ['an answer to a server', Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}')],
  ['a batch', Buffer.from('[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]')],
  ['what cannot be read', Buffer.from('{"method":"tools/list"')],
  ['no body', undefined],
])('%s is not', (_name, body) => expect(isRepeatable('POST', body)).toBe(false));

test('what has no body is', () => {
  for (const method of ['GET', 'DELETE']) expect(isRepeatable(method, undefined)).toBe(true);
});
