import { expect, test } from '@jest/globals';
import { messageIdOf } from '../src/mcp/read-message.ts';

const idOf = (text: string) => messageIdOf(Buffer.from(text));

test('the id of a request is answered as it was sent', () => {
  expect(idOf('{"jsonrpc":"2.0","id":7,"method":"tools/call"}')).toBe(7);
  expect(idOf('{"jsonrpc":"2.0","id":"seven","method":"tools/call"}')).toBe('seven');
});

test('what is no single request has none', () => {
  const others = [
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","id":7,"result":{}}',
    '[{"jsonrpc":"2.0","id":7,"method":"ping"}]',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}',
    '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}',
    'no JSON',
    '',
  ];
  expect(others.map(idOf)).toEqual(others.map(() => null));
  expect(messageIdOf(undefined)).toBeNull();
});
