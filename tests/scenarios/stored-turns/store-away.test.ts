/** The database of stored turns is away: who only stores is answered, who reads is asked to come back, and afterwards all is there again. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { splitAvailable, until } from '../../support/gateway.ts';
import { send } from '../../support/send.ts';
import { readSpoken } from './spoken.ts';
import { type Json, openStage, type Stage, textOf } from './stage.ts';

const suite = splitAvailable('stored-turns/store-away') ? describe : describe.skip;

suite('split over NATS and PostgreSQL', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ arrangement: 'split' });
  });
  afterAll(() => stage?.stop());

  const call = (method: string, path: string, body?: Json) =>
    send(stage.gateway.url, path, {
      method,
      headers: { authorization: `Bearer ${stage.gateway.key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });

  /** What holds while nobody answers for the store. */
  async function expectAway(known: string, conversation: string): Promise<void> {
    stage.takeRequests();
    for (const stream of [false, true])
      for (const model of ['alpha', 'alpha_response']) {
        const { response } = await stage.ask({ model, input: 'say-one' }, { stream });
        expect([model, stream, textOf(response)]).toEqual([model, stream, 'said one']);
      }
    expect(stage.takeRequests()).toHaveLength(4);
    const item = { type: 'item_reference', id: 'msg_any' };
    for (const [method, path, body] of [
      ['GET', `/v1/responses/${known}`],
      ['GET', `/v1/responses/${known}/input_items`],
      ['DELETE', `/v1/responses/${known}`],
      ['GET', `/v1/conversations/${conversation}/items`],
      ['POST', '/v1/conversations', {}],
      ['POST', '/v1/responses', { model: 'alpha', input: 'say-two', previous_response_id: known }],
      ['POST', '/v1/responses', { model: 'alpha', input: 'say-two', conversation }],
      ['POST', '/v1/responses', { model: 'alpha', input: [item, { role: 'user', content: 'say-two' }] }],
    ] as const) {
      const { status, headers, json } = await call(method, path, body);
      expect([method, path, status, json.error.code, headers['retry-after']]).toEqual([
        method,
        path,
        503,
        'storage_unavailable',
        expect.stringMatching(/^\d+$/),
      ]);
    }
    // Nothing was asked of a model for those.
    expect(stage.takeRequests()).toEqual([]);
  }

  /** What was stored before is there, and new turns are stored. */
  async function expectBack(known: string): Promise<void> {
    await until(async () => (await call('GET', `/v1/responses/${known}`)).status === 200, 'the store to be back');
    stage.takeRequests();
    const two = await stage.ask({ model: 'alpha', input: 'say-two', previous_response_id: known });
    expect(readSpoken('alpha', stage.takeRequests()[0]!.json)).toHaveLength(3);
    await until(async () => (await call('GET', `/v1/responses/${two.response.id}`)).status === 200, 'the new turn to be stored');
  }

  test('PostgreSQL is stopped', async () => {
    const { response } = await stage.ask({ model: 'alpha', input: 'say-zero' });
    const conversation = await stage.client.conversations.create({});
    await stage.gateway.postgres!.kill!();
    await until(async () => (await call('GET', `/v1/responses/${response.id}`)).status === 503, 'the store to be away');
    await expectAway(response.id, conversation.id);
    await stage.gateway.postgres!.restart!();
    await expectBack(response.id);
  });

  test('the statistics service, which keeps the turns, is killed', async () => {
    const { response } = await stage.ask({ model: 'alpha', input: 'say-zero' });
    const conversation = await stage.client.conversations.create({});
    await stage.gateway.processes['stats']!.kill('SIGKILL');
    await until(async () => (await call('GET', `/v1/responses/${response.id}`)).status === 503, 'the store to be away');
    const streamed = await stage.ask({ model: 'beta', input: 'say-later' }, { stream: true });
    await expectAway(response.id, conversation.id);
    await stage.gateway.processes['stats']!.restart();
    await expectBack(response.id);
    // Its end lay in the outbox of the translator, so it was released without a loss, and is stored once the service is back.
    if (!(await stage.losses(streamed.id)).some(({ field }) => field === 'store'))
      await until(async () => (await call('GET', `/v1/responses/${streamed.response.id}`)).status === 200, 'the streamed turn to be stored');
  });
});
