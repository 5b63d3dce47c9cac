/** Turns that are not there to go on from: never stored, unknown, broken off, still under way; and what is too long. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { arrangements, until } from '../../support/gateway.ts';
import { readSpoken, withoutIds } from './spoken.ts';
import { hostNames, type Json, openStage, refusalOf, type Stage, textOf } from './stage.ts';

const slow = 'text:60+slow:50';
const slower = 'text:200+slow:50';

describe.each(arrangements('stored-turns/degraded'))('a %s gateway', (arrangement) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ arrangement }, [slow, slower, 'midstream-error', 'err:500']);
  });
  afterAll(() => stage?.stop());

  const fieldsLost = async (id: string): Promise<string[]> => (await stage.losses(id)).map(({ field }) => field);
  const statusOf = async (id: string) => (await stage.client.responses.retrieve(id)).status;

  describe.each(hostNames)('%s', (host) => {
    test('store:false: answered, not kept, and a chain onto it is the current turn alone', async () => {
      const asked = await Promise.all(
        [false, true].map(async (stream) => {
          const one = await stage.ask({ model: host, input: 'say-one', store: false }, { stream });
          expect([textOf(one.response), (one.response as Json).store]).toEqual(['said one', false]);
          return { stream, id: one.response.id };
        }),
      );
      stage.takeRequests();
      // Side by side: a turn that is not there is looked for again for some seconds.
      const goOn = async ({ stream, id }: { stream: boolean; id: string }): Promise<void> => {
        const two = await stage.ask({ model: host, input: 'say-two', previous_response_id: id }, { stream });
        expect(textOf(two.response)).toBe('said two');
        expect(two.headers.get('x-gateway-translation')).toMatch(/lost=/);
        expect(await fieldsLost(two.id)).toContain('previous_response_id');
        // It is a turn like any other from then on.
        expect((await stage.retrieveEnded(two.response.id)).status).toBe('completed');
      };
      const isGone = async ({ id }: { id: string }): Promise<void> =>
        expect(await refusalOf(stage.client.responses.retrieve(id))).toMatchObject({ status: 404 });
      await Promise.all(asked.flatMap((one) => [isGone(one), goOn(one)]));
      expect(stage.takeRequests().map(({ json }) => readSpoken(host, json))).toEqual([[['user', 'say-two']], [['user', 'say-two']]]);
    });

    test('a caller who leaves in the middle: the turn is incomplete, and what was delivered is gone on from', async () => {
      const stream = await stage.client.responses.create({ model: `${host} ${slow}`, input: 'go', stream: true });
      let id = '';
      let delivered = '';
      for await (const event of stream as AsyncIterable<Json>) {
        if (event.response) id = event.response.id;
        if (event.type === 'response.output_text.delta') delivered += event.delta;
        if (delivered.length > 30) break;
      }
      await until(async () => (await statusOf(id)) === 'incomplete', 'the turn to be closed');
      stage.takeRequests();
      await stage.ask({ model: host, input: 'say-next', previous_response_id: id });
      const spoken = withoutIds(readSpoken(host, stage.takeRequests()[0]!.json));
      expect(spoken.map(([who]) => who)).toEqual(['user', 'assistant', 'user']);
      expect(spoken[1]![1]!.startsWith(delivered.trimEnd())).toBe(true);
    });
  });

  test('unknown ids, and ids that are none', async () => {
    for (const previous_response_id of ['resp_nothing', 'nothing', "x' or 1=1 --", 'x'.repeat(2000)]) {
      stage.takeRequests();
      const asked = await stage.ask({ model: 'beta', input: 'say-one', previous_response_id });
      expect(readSpoken('beta', stage.takeRequests()[0]!.json)).toEqual([['user', 'say-one']]);
      expect(await fieldsLost(asked.id)).toContain('previous_response_id');
    }
    for (const previous_response_id of [7, {}, true]) {
      const refused = await refusalOf(stage.ask({ model: 'beta', input: 'say-one', previous_response_id: previous_response_id as Json }));
      expect(refused).toMatchObject({ status: 400, param: 'previous_response_id' });
    }
    const asked = await stage.ask({ model: 'beta', input: 'say-one', previous_response_id: null });
    expect(await fieldsLost(asked.id)).not.toContain('previous_response_id');
  });

  test('ids without the prefix are gone on from as well', async () => {
    const one = await stage.ask({ model: 'alpha', input: 'say-one' });
    stage.takeRequests();
    await stage.ask({ model: 'alpha', input: 'say-two', previous_response_id: one.response.id.slice('resp_'.length) });
    expect(readSpoken('alpha', stage.takeRequests()[0]!.json)).toHaveLength(3);
  });

  test('a turn still under way is waited for', async () => {
    const ended = await beginSlowly(slow);
    const next = await stage.ask({ model: 'beta', input: 'say-next', previous_response_id: ended.id });
    expect(textOf(next.response)).toBe('said next');
    expect((await ended.whole).status).toBe('completed');
    const [, request] = stage.takeRequests();
    expect(readSpoken('beta', request!.json)[1]![1]).toMatch(/^word0 .*word59/);
  });

  test('for five seconds, then it is 409', async () => {
    const ended = await beginSlowly(slower);
    const from = performance.now();
    const refused = await refusalOf(stage.ask({ model: 'beta', input: 'say-next', previous_response_id: ended.id }));
    const took = performance.now() - from;
    expect(refused).toMatchObject({ status: 409, code: 'response_in_progress' });
    expect(took).toBeGreaterThan(4000);
    expect(took).toBeLessThan(8500);
    expect(await statusOf(ended.id)).toBe('in_progress');
    ended.leave();
    await until(async () => (await statusOf(ended.id)) === 'incomplete', 'the turn to be closed');
  });

  /** A stream that is read to its end beside what follows. */
  async function beginSlowly(script: string): Promise<{ id: string; whole: Promise<Json>; leave: () => void }> {
    stage.takeRequests();
    const stream = await stage.client.responses.create({ model: `alpha ${script}`, input: 'go', stream: true });
    const iterator = (stream as AsyncIterable<Json>)[Symbol.asyncIterator]();
    const { id } = (await iterator.next()).value.response;
    const whole = (async () => {
      for (let last: Json; ; ) {
        const { done, value } = await iterator.next();
        if (done) return last.response;
        last = value;
      }
    })();
    return { id, whole, leave: () => stream.controller.abort() };
  }

  test('a turn that failed is kept with its status', async () => {
    const asked = await stage.ask({ model: 'beta midstream-error', input: 'go' }, { stream: true }).catch((error: unknown) => error as Error);
    const events = 'events' in asked ? asked.events : [];
    const id = events.find(({ response }) => response)?.response.id;
    if (id !== undefined) await until(async () => ['failed', 'incomplete'].includes((await statusOf(id)) as string), 'the turn to be closed');
    await expect(stage.ask({ model: 'beta err:500', input: 'go' })).rejects.toMatchObject({ status: 502 });
  });

  test('a group that refuses lossy translations refuses a chain onto nothing', async () => {
    await stage.gateway.configure({ key_groups: [{ name: 'strict', models: ['*'], strict_translation: true }] });
    const client = await stage.addKey('strict-caller', undefined, 'strict');
    expect(await refusalOf(stage.ask({ model: 'alpha_response', input: 'say-one', previous_response_id: 'resp_nothing' }, { client }))).toMatchObject({
      status: 400,
      message: expect.stringContaining('previous_response_id'),
    });
    const one = await stage.ask({ model: 'alpha_response', input: 'say-one' }, { client });
    const two = await stage.ask({ model: 'alpha_response', input: 'say-two', previous_response_id: one.response.id }, { client });
    expect(textOf(two.response)).toBe('said two');
  });
});
