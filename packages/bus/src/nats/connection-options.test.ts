import { describe, expect, test } from '@jest/globals';
import { connectionOptions, serversInTurn } from './connection-options.ts';

describe('NATS addresses', () => {
  test.each([
    ['nats://host:4222', ['host:4222'], {}],
    ['host', ['host'], {}],
    ['nats://token123@host:4222', ['host:4222'], { token: 'token123' }],
    ['nats://me:p%40ss@host:4222', ['host:4222'], { user: 'me', pass: 'p@ss' }],
    ['nats://t%2F1@a:4222, nats://b:4222', ['a:4222', 'b:4222'], { token: 't/1' }],
    ['nats://first@a:4222,nats://me:second@b:4222', ['a:4222', 'b:4222'], { token: 'first' }],
    ['tls://t@[::1]:4222', ['[::1]:4222'], { token: 't', tls: { checkServerIdentity: expect.any(Function) } }],
    ['tls://t@host:4222', ['host:4222'], { token: 't', tls: {} }],
  ])('%s', (url, servers, wanted) => {
    const options = connectionOptions({ url, name: 'edge' });
    const { token, user, pass, tls } = options;
    const given = Object.fromEntries(Object.entries({ token, user, pass, tls }).filter(([, value]) => value !== undefined));
    expect([options.servers, given]).toEqual([servers, wanted]);
  });
});

test('the server to connect to next is the one that was tried longest ago', () => {
  const choose = serversInTurn();
  const pool = (...names: string[]) => names.map((listen) => ({ listen })) as never;
  const chosen = (...names: string[]) => (choose(pool(...names), null) as { listen: string }).listen;
  // The library puts the one whose connection just ended first.
  expect([chosen('a', 'b', 'c'), chosen('a', 'b', 'c'), chosen('b', 'c', 'a'), chosen('c', 'a', 'b')]).toEqual(['a', 'b', 'c', 'a']);
  expect([chosen('a', 'new', 'b', 'c'), chosen('a')]).toEqual(['new', 'a']);
});
