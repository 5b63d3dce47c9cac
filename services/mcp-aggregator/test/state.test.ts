/** Limits of a server, and sessions whose ids say all there is to know. */
import { describe, expect, test } from '@jest/globals';
import { processOfSession, Sessions } from '../src/endpoint/sessions.ts';
import { RpcError } from '../src/protocol/json-rpc.ts';
import { Concurrency, Rates } from '../src/servers/limits.ts';

describe('calls of one access key at a time', () => {
  const never = new AbortController().signal;

  test('wait in turn, and other keys do not wait for them', async () => {
    const concurrency = new Concurrency();
    const order: string[] = [];
    const first = await concurrency.enter('a', 1, never);
    const second = concurrency.enter('a', 1, never).then((leave) => {
      order.push('second');
      return leave;
    });
    const third = concurrency.enter('a', 1, never).then((leave) => {
      order.push('third');
      return leave;
    });
    (await concurrency.enter('b', 1, never))();
    expect(order).toEqual([]);
    first();
    // Giving a place back twice gives one.
    first();
    (await second)();
    (await third)();
    expect(order).toEqual(['second', 'third']);
  });

  test('a caller who leaves gives up its turn', async () => {
    const concurrency = new Concurrency();
    const leave = await concurrency.enter('a', 1, never);
    const gone = new AbortController();
    const waiting = concurrency.enter('a', 1, gone.signal);
    const next = concurrency.enter('a', 1, never);
    gone.abort();
    await expect(waiting).rejects.toThrow(RpcError);
    leave();
    (await next)();
  });

  test('without a limit nobody waits', async () => {
    const concurrency = new Concurrency();
    for (let at = 0; at < 100; at++) await concurrency.enter('a', null, never);
  });
});

describe('rates', () => {
  const refusal = (run: () => void): unknown => {
    try {
      run();
      return null;
    } catch (error) {
      return error instanceof RpcError ? error.data : error;
    }
  };

  test('requests fill evenly, also less than one a second', () => {
    let now = 0;
    const rates = new Rates(() => now);
    const limit = { requests_per_second: 0.5, tokens_per_minute: null };
    rates.admit(limit, 10);
    expect(refusal(() => rates.admit(limit, 10))).toEqual({ code: 'rate_limited', retry_after_ms: 2000 });
    now = 2000;
    rates.admit(limit, 10);
  });

  test('tokens of results count, and a call larger than all of them is made when the bucket is full', () => {
    let now = 0;
    const rates = new Rates(() => now);
    const limit = { requests_per_second: null, tokens_per_minute: 60 };
    rates.admit(limit, 10);
    rates.used(100);
    expect(refusal(() => rates.admit(limit, 1))).toMatchObject({ code: 'rate_limited' });
    now = 120_000;
    rates.admit(limit, 1000);
  });

  test('another limit counts from then on', () => {
    const rates = new Rates(() => 0);
    rates.admit({ requests_per_second: 1, tokens_per_minute: null }, 0);
    rates.admit({ requests_per_second: 2, tokens_per_minute: null }, 0);
    rates.admit(null, 0);
    rates.admit(null, 0);
  });
});

describe('sessions', () => {
  const [key, olderKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const claims = { owner: 'key-1', scope: null, version: '2025-11-25', capabilities: '{"sampling":{}}' };

  test('another process goes on with an id, for its owner and address alone', () => {
    const id = new Sessions('process-a', () => [key]).open(claims)!.id;
    expect(processOfSession(id)).toBe('process-a');
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
