/** Turns belong to the access key that stored them: for every other key they do not exist, a rotation keeps them, a deletion takes them along. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type OpenAI from 'openai';
import { arrangements, until } from '../../support/gateway.ts';
import { type Answer, send } from '../../support/send.ts';
import { readSpoken } from './spoken.ts';
import { openStage, refusalOf, type Stage } from './stage.ts';

const everyCall = (id: string): [method: string, path: string][] => [
  ['GET', `/v1/responses/${id}`],
  ['GET', `/v1/responses/${id}?stream=true&starting_after=0`],
  ['DELETE', `/v1/responses/${id}`],
  ['POST', `/v1/responses/${id}/cancel`],
  ['GET', `/v1/responses/${id}/input_items`],
];
const everyConversationCall = (id: string, item: string): [method: string, path: string, body?: object][] => [
  ['GET', `/v1/conversations/${id}`],
  ['POST', `/v1/conversations/${id}`, { metadata: { a: 'b' } }],
  ['DELETE', `/v1/conversations/${id}`],
  ['GET', `/v1/conversations/${id}/items`],
  ['POST', `/v1/conversations/${id}/items`, { items: [{ type: 'message', role: 'user', content: 'hello' }] }],
  ['GET', `/v1/conversations/${id}/items/${item}`],
  ['DELETE', `/v1/conversations/${id}/items/${item}`],
];

/** Of the same time, with which ids of turns begin. */
const randomLike = (id: string): string => `${id.slice(0, 11)}${'0'.repeat(id.length - 11)}`;

describe.each(arrangements('stored-turns/ownership'))('a %s gateway', (arrangement) => {
  let stage: Stage;
  let other: OpenAI;
  beforeAll(async () => {
    stage = await openStage({ arrangement, borrowed: true });
    other = await stage.addKey('other');
  });
  afterAll(() => stage?.stop());

  const call = (client: OpenAI, [method, path, body]: [string, string, object?]): Promise<Answer> =>
    send(stage.gateway.url, path, {
      method,
      headers: { authorization: `Bearer ${client.apiKey}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });

  /** What the other key is answered about a turn that is not its own, and about one that nobody has. */
  const both = (theirs: [string, string, object?], nobodys: [string, string, object?]): Promise<[Answer, Answer]> =>
    Promise.all([call(other, theirs), call(other, nobodys)]);

  test('to another key of the group a turn is the same 404 as a random id', async () => {
    const { response } = await stage.ask({ model: 'alpha', input: 'say-one' });
    const random = randomLike(response.id);
    const foreign = everyCall(response.id);
    // Side by side: a turn that is not there is looked for again for some seconds.
    const answers = await Promise.all(everyCall(random).map(async (unknown, at) => [unknown, ...(await both(foreign[at]!, unknown))] as const));
    for (const [unknown, theirs, nobodys] of answers) {
      expect([unknown, theirs.status, nobodys.status]).toEqual([unknown, 404, 404]);
      expect(theirs.text.replaceAll(response.id, random)).toBe(nobodys.text);
      expect(Object.keys(theirs.headers).sort()).toEqual(Object.keys(nobodys.headers).sort());
    }
    expect((await stage.client.responses.retrieve(response.id)).id).toBe(response.id);
  });

  test('nor does the time of the answer show which it was', async () => {
    const { response } = await stage.ask({ model: 'alpha', input: `say-one ${'x'.repeat(100_000)}` });
    const random = randomLike(response.id);
    const took: Record<string, number[]> = { foreign: [], random: [] };
    const timed = async (kind: string, id: string): Promise<void> => {
      const from = performance.now();
      expect((await call(other, ['GET', `/v1/responses/${id}`])).status).toBe(404);
      took[kind]!.push(performance.now() - from);
    };
    // What is not there is looked for again for a while: some side by side, in turns of both kinds.
    for (let times = 0; times < 5; times++)
      await Promise.all(Array.from({ length: 60 }, (_, at) => (at % 2 === times % 2 ? timed('foreign', response.id) : timed('random', random))));
    const [foreign, unknown] = [median(took['foreign']!), median(took['random']!)];
    // Of five percent, and what the other load of the machine adds to either of them.
    expect(Math.abs(foreign - unknown)).toBeLessThan(0.1 * unknown);
  });

  test('chaining onto a foreign turn is chaining onto nothing, and shows no difference', async () => {
    const { response } = await stage.ask({ model: 'alpha', input: 'say-secret' });
    const random = randomLike(response.id);
    stage.takeRequests();
    const asked = await Promise.all(
      [response.id, random].map(async (previous_response_id) => {
        const one = await stage.ask({ model: 'beta', input: 'say-two', previous_response_id }, { client: other });
        return { receipt: one.headers.get('x-gateway-translation'), previous: one.response.previous_response_id, losses: await stage.losses(one.id) };
      }),
    );
    expect(stage.takeRequests().map(({ json }) => readSpoken('beta', json))).toEqual([[['user', 'say-two']], [['user', 'say-two']]]);
    expect(asked[0]).toEqual(asked[1]);
    expect(asked[0]!.losses.map(({ field }) => field)).toContain('previous_response_id');
    expect(asked[0]!.receipt).toMatch(/lost=/);
  });

  test('conversations of another key are the 404 of a random id', async () => {
    const conversation = await stage.client.conversations.create({ items: [{ type: 'message', role: 'user', content: 'hello' }] });
    const items = await stage.client.conversations.items.list(conversation.id);
    const random = `conv_${'0'.repeat(conversation.id.length - 5)}`;
    const item = items.data[0]!.id as string;
    const foreign = everyConversationCall(conversation.id, item);
    for (const [at, unknown] of everyConversationCall(random, item).entries()) {
      const [theirs, nobodys] = [await call(other, foreign[at]!), await call(other, unknown)];
      expect([unknown.slice(0, 2), theirs.status, nobodys.status]).toEqual([unknown.slice(0, 2), 404, 404]);
      expect(theirs.text.replaceAll(conversation.id, random)).toBe(nobodys.text);
    }
    for (const id of [conversation.id, random])
      expect(await refusalOf(other.responses.create({ model: 'alpha', input: 'say-one', conversation: id }))).toMatchObject({ status: 404 });
    expect((await stage.client.conversations.items.list(conversation.id)).data).toHaveLength(1);
  });

  test('a key that is rotated, disabled for a while or renamed in nothing keeps its turns', async () => {
    const client = await stage.addKey('rotated');
    const one = await stage.ask({ model: 'alpha', input: 'say-one' }, { client });
    const rotated = await stage.gateway.console('POST', '/access-keys/rotated/rotate', {});
    expect(rotated.status).toBe(200);
    const renewed = stage.clientOf(rotated.body.key);
    await until(async () => (await renewed.responses.retrieve(one.response.id)).id === one.response.id, 'the new key to be known');
    stage.takeRequests();
    await stage.ask({ model: 'alpha', input: 'say-two', previous_response_id: one.response.id }, { client: renewed });
    expect(readSpoken('alpha', stage.takeRequests()[0]!.json)).toHaveLength(3);
  });

  test('a key that is deleted takes its turns and conversations along; one of the same name and value begins anew', async () => {
    const client = await stage.addKey('leaving');
    const stay = await stage.ask({ model: 'alpha', input: 'say-mine' });
    const one = await stage.ask({ model: 'alpha', input: 'say-one' }, { client });
    const conversation = await client.conversations.create({});
    await stage.ask({ model: 'alpha', input: 'say-two', conversation: conversation.id }, { client });
    expect((await stage.gateway.console('DELETE', '/access-keys/leaving')).status).toBeLessThan(300);
    await stage.gateway.settle();
    await stage.addKey('leaving', String(client.apiKey));
    stage.takeRequests();
    const [turn, talk] = await Promise.all([
      refusalOf(client.responses.retrieve(one.response.id)),
      refusalOf(client.conversations.retrieve(conversation.id)),
      stage.ask({ model: 'alpha', input: 'say-three', previous_response_id: one.response.id }, { client }),
    ]);
    expect([turn, talk]).toEqual([expect.objectContaining({ status: 404 }), expect.objectContaining({ status: 404 })]);
    expect(readSpoken('alpha', stage.takeRequests()[0]!.json)).toEqual([['user', 'say-three']]);
    expect((await stage.client.responses.retrieve(stay.response.id)).id).toBe(stay.response.id);
  });

  test('the history of the configuration has nothing of turns, also of a key that is deleted with them', async () => {
    const client = await stage.addKey('remembered');
    const one = await stage.ask({ model: 'alpha', input: 'say-confidential97' }, { client });
    const conversation = await client.conversations.create({ metadata: { about: 'confidential97' } });
    await stage.ask({ model: 'alpha', input: 'say-two', conversation: conversation.id }, { client });
    expect((await stage.gateway.console('DELETE', '/access-keys/remembered')).status).toBeLessThan(300);
    const { items, revision } = (await stage.gateway.console('GET', '/history?limit=100')).body;
    expect(items[0]).toMatchObject({ revision });
    const commits = await Promise.all(items.map(async (item: { revision: number }) => (await stage.gateway.console('GET', `/history/${item.revision}`)).body));
    const remembered = JSON.stringify([items, commits]);
    expect(remembered).toContain('remembered');
    for (const secret of ['confidential97', one.response.id, conversation.id]) expect(remembered).not.toContain(secret);
  });

  test('no content of a turn is in any log', async () => {
    await stage.ask({ model: 'alpha', input: 'say-confidential98' });
    const lines = Object.values(stage.gateway.processes).flatMap((one) => one.logs());
    expect(lines.filter((line) => line.includes('confidential98'))).toEqual([]);
  });
});

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] as number;
