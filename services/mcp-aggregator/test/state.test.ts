/** Sessions whose ids say all there is to know. */
import { describe, expect, test } from '@jest/globals';
import { mcpSessionForm, mcpStateInBody } from '@model-gateway/contracts';
import { type HeldCall, HeldCalls } from '../src/endpoint/conversation.ts';
import { Sessions } from '../src/endpoint/sessions.ts';

describe('sessions', () => {
  const [key, olderKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const claims = { owner: 'key-1', scope: null, version: '2025-11-25', capabilities: '{"sampling":{}}' };

  test('another process goes on with an id, for its owner and address alone', () => {
    const id = new Sessions('process-a', () => [key]).open(claims)!.id;
    expect(mcpSessionForm.exec(id)?.[1]).toBe('process-a');
    const other = new Sessions('process-b', () => [key]);
    expect(other.find(id, 'key-2', null)).toBeNull();
    expect(other.find(id, 'key-1', 'server')).toBeNull();
    expect(other.find(id, 'key-1', null)).toMatchObject({ version: '2025-11-25', capabilities: '{"sampling":{}}' });
  });

  test('ids of an earlier key are read, and of no key nothing is opened', () => {
    const id = new Sessions('a', () => [olderKey]).open(claims)!.id;
    expect(new Sessions('b', () => [key, olderKey]).find(id, 'key-1', null)).not.toBeNull();
    expect(new Sessions('b', () => [key]).find(id, 'key-1', null)).toBeNull();
    expect(new Sessions('c', () => []).open(claims)).toBeUndefined();
  });

  test('an id that was changed, cut or made up is none', () => {
    const id = new Sessions('a', () => [key]).open(claims)!.id;
    const other = new Sessions('b', () => [key]);
    const [process, said, mac] = id.split('.') as [string, string, string];
    const forged = Buffer.from(Buffer.from(said, 'base64url').toString().replace('2025-11-25', '2024-11-05')).toString('base64url');
    for (const text of [`${process}.${forged}.${mac}`, `b.${said}.${mac}`, id.slice(0, -1), `${process}.${said}`, '', 'x', `${'a'.repeat(9000)}.b.${mac}`])
      expect([text.slice(0, 40), other.find(text, 'key-1', null)]).toEqual([text.slice(0, 40), null]);
  });

  test('what has ended is not found again', () => {
    const sessions = new Sessions('a', () => [key]);
    const session = sessions.open(claims)!;
    sessions.end(session);
    expect(sessions.find(session.id, 'key-1', null)).toBeNull();
  });

  test('capabilities that would make a long id are not kept', () => {
    const session = new Sessions('a', () => [key]).open({ ...claims, capabilities: JSON.stringify({ experimental: 'x'.repeat(10_000) }) })!;
    expect(session.id.length).toBeLessThan(1000);
  });
});

test('the state of a call that waits names its process to edges, and goes on with that call alone', async () => {
  const [process, other] = ['0a'.repeat(9), '0b'.repeat(9)];
  const held = new HeldCalls(process);
  const target = { server: 's', tool: 't' };
  const call = { conversation: { end: () => undefined }, work: Promise.resolve({}), owner: 'key-1', target } as unknown as HeldCall;
  const state = held.hold(call);
  expect(mcpStateInBody.exec(JSON.stringify({ params: { requestState: state } }))?.[1]).toBe(process);
  expect(() => new HeldCalls(other).resume(state, 'key-1', target)).toThrow('no call waits');
  expect(() => held.resume(state, 'key-2', target)).toThrow('no call waits');
  expect(held.resume('of-the-server', 'key-1', target)).toBeUndefined();
  expect(held.resume(state, 'key-1', target)).toBe(call);
  expect(held.size).toBe(0);
});
