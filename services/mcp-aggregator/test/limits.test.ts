/** Limits of a server: in one process, and over two that share a Redis. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MemoryState, RedisState, type SharedState } from '@model-gateway/distributed-state';
import { type RedisServer, redisAvailable, startRedisServer } from '../../../tests/support/redis-server.ts';
import { RpcError } from '../src/protocol/json-rpc.ts';
import { type AskedLimits, type Entered, ServerLimits } from '../src/servers/limits.ts';

const never = new AbortController().signal;
const asked = (more: Partial<AskedLimits>): AskedLimits => ({ owner: 'a', tokens: 1, max_concurrency: null, rate_limit: null, signal: never, ...more });
const refusal = async (entering: Promise<Entered>): Promise<unknown> => {
  try {
    await entering;
    return null;
  } catch (error) {
    return error instanceof RpcError ? error.data : error;
  }
};
const limitedBy = { code: 'rate_limited', retry_after_ms: expect.any(Number) };

describe('one process', () => {
  const state = new MemoryState();
  let count = 0;
  const open = (): ServerLimits => new ServerLimits(`server-${count++}`, state);

  test('calls of one access key wait in turn, and other keys do not wait for them', async () => {
    const limits = open();
    const order: string[] = [];
    const enter = (owner: string) => limits.enter(asked({ owner, max_concurrency: 1 }));
    const first = await enter('a');
    const [second, third] = ['second', 'third'].map((name) =>
      enter('a').then((entered) => {
        order.push(name);
        return entered;
      }),
    );
    (await enter('b')).leave(0);
    expect(order).toEqual([]);
    first.leave(0);
    // Once more than needed gives no second place.
    first.leave(0);
    (await second!).leave(0);
    (await third!).leave(0);
    expect(order).toEqual(['second', 'third']);
  });

  test('a caller who leaves gives up its turn', async () => {
    const limits = open();
    const first = await limits.enter(asked({ max_concurrency: 1 }));
    const gone = new AbortController();
    const waiting = limits.enter(asked({ max_concurrency: 1, signal: gone.signal }));
    const next = limits.enter(asked({ max_concurrency: 1 }));
    gone.abort();
    await expect(waiting).rejects.toThrow(RpcError);
    first.leave(0);
    (await next).leave(0);
  });

  test('without limits nobody waits', async () => {
    const limits = open();
    for (let at = 0; at < 100; at++) await limits.enter(asked({}));
  });

  test('calls in a second, also less than one', async () => {
    const limits = open();
    const rate_limit = { requests_per_second: 0.5, tokens_per_minute: null };
    await limits.enter(asked({ rate_limit }));
    expect(await refusal(limits.enter(asked({ rate_limit })))).toEqual(limitedBy);
    // An edited limit counts from then on.
    await limits.enter(asked({ rate_limit: { requests_per_second: 1000, tokens_per_minute: null } }));
    await limits.enter(asked({}));
  });

  test('tokens of results count, and a call larger than all of them is made once', async () => {
    const limits = open();
    const rate_limit = { requests_per_second: null, tokens_per_minute: 60 };
    (await limits.enter(asked({ rate_limit, tokens: 10 }))).leave(100);
    expect(await refusal(limits.enter(asked({ rate_limit })))).toEqual(limitedBy);
    (await open().enter(asked({ rate_limit, tokens: 1000 }))).leave(1000);
  });

  test('a call that is refused for its rate holds no place', async () => {
    const limits = open();
    const rate_limit = { requests_per_second: 1, tokens_per_minute: null };
    (await limits.enter(asked({ rate_limit, max_concurrency: 1 }))).leave(0);
    expect(await refusal(limits.enter(asked({ rate_limit, max_concurrency: 1 })))).toEqual(limitedBy);
    (await limits.enter(asked({ max_concurrency: 1 }))).leave(0);
  });
});

(redisAvailable('limits of MCP servers') ? describe : describe.skip)('two processes with one Redis', () => {
  let redis: RedisServer;
  let states: SharedState[] = [];
  let processes: ServerLimits[] = [];

  beforeAll(async () => {
    redis = await startRedisServer({ own: true });
    const logger = { warn: () => {}, error: () => {}, info: () => {} };
    states = ['one', 'two'].map((holder) => new RedisState({ url: redis.url, holder, replicas: () => 2, commandMs: 20_000, logger }));
    await Promise.all(states.map((state) => state.start()));
    processes = states.map((state) => new ServerLimits('shared', state));
  });
  afterAll(async () => {
    for (const limits of processes) limits.close();
    await Promise.all(states.map((state) => state.close()));
    await redis?.dispose();
  });

  test('no more calls of one access key run at a time than the server allows, wherever they come', async () => {
    let [running, most] = [0, 0];
    const one = async (at: number): Promise<void> => {
      const entered = await processes[at % 2]!.enter(asked({ max_concurrency: 2 }));
      most = Math.max(most, ++running);
      await states[0]!.lookAtWindow('a-round-trip', { limit: 1, windowMs: 1000 });
      running--;
      entered.leave(0);
    };
    await Promise.all(Array.from({ length: 12 }, (_, at) => one(at)));
    expect(most).toBe(2);
  });

  test('a place that is taken in one process is waited for in the other', async () => {
    const [one, two] = processes;
    const first = await one!.enter(asked({ owner: 'b', max_concurrency: 1 }));
    let entered = false;
    const second = two!.enter(asked({ owner: 'b', max_concurrency: 1 })).then((place) => {
      entered = true;
      return place;
    });
    (await two!.enter(asked({ owner: 'c', max_concurrency: 1 }))).leave(0);
    expect(entered).toBe(false);
    first.leave(0);
    (await second).leave(0);
  });

  test('calls in a second and tokens in a minute are counted together', async () => {
    const calls = { requests_per_second: 0.01, tokens_per_minute: null };
    const tokens = { requests_per_second: null, tokens_per_minute: 50 };
    const answers = [];
    for (const at of [0, 1, 0]) answers.push(await refusal(processes[at]!.enter(asked({ rate_limit: calls }))));
    expect(answers).toEqual([null, limitedBy, limitedBy]);
    (await processes[0]!.enter(asked({ rate_limit: tokens }))).leave(500);
    expect(await refusal(processes[1]!.enter(asked({ rate_limit: tokens })))).toEqual(limitedBy);
  });
});
