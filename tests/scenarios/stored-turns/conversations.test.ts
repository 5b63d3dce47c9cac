/** Conversations: made, read, added to by turns and by hand, listed in pages, deleted, and refused. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { arrangements, until } from '../../support/gateway.ts';
import { send } from '../../support/send.ts';
import { readSpoken, withoutIds } from './spoken.ts';
import { callsOf, hostNames, type Json, openStage, refusalOf, type Stage, textOf, tools } from './stage.ts';

describe.each(arrangements('stored-turns/conversations'))('a %s gateway', (arrangement) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ arrangement, borrowed: true }, ['text:40+slow:50']);
  });
  afterAll(() => stage?.stop());

  const call = (method: string, path: string, body?: unknown) =>
    send(stage.gateway.url, path, {
      method,
      headers: { authorization: `Bearer ${stage.gateway.key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const message = (content: string) => ({ type: 'message' as const, role: 'user' as const, content });
  const textsOf = (items: Json[]): string[] => items.map(({ content }) => content.map(({ text }: Json) => text).join(''));

  test.each(hostNames)('two turns at %s, listed in order', async (host) => {
    const conversation = await stage.client.conversations.create({ metadata: { topic: 'demo' } });
    expect(conversation).toMatchObject({ object: 'conversation', metadata: { topic: 'demo' }, created_at: expect.any(Number) });
    expect(conversation.id).toMatch(/^conv_/);
    const one = await stage.ask({ model: host, input: 'say-one', conversation: conversation.id }, { stream: true });
    expect(one.response.conversation).toEqual({ id: conversation.id });
    stage.takeRequests();
    const two = await stage.ask({ model: host, input: 'say-two', conversation: { id: conversation.id } });
    expect(two.response.conversation).toEqual({ id: conversation.id });
    const [request] = stage.takeRequests();
    expect(withoutIds(readSpoken(host, request!.json))).toEqual([
      ['user', 'say-one'],
      ['assistant', 'said one'],
      ['user', 'say-two'],
    ]);
    expect(request!.json).not.toHaveProperty('conversation');
    let items: Json[] = [];
    // On a busy machine the end of a turn may be stored after its caller has it.
    await until(async () => {
      items = [];
      for await (const item of stage.client.conversations.items.list(conversation.id, { order: 'asc', limit: 2 })) items.push(item);
      return items.length === 4;
    }, 'the items of both turns');
    expect(textsOf(items)).toEqual(['say-one', 'said one', 'say-two', 'said two']);
    expect((await stage.client.responses.retrieve(two.response.id)).conversation).toEqual({ id: conversation.id });
    expect(await stage.client.conversations.delete(conversation.id)).toEqual({ id: conversation.id, object: 'conversation.deleted', deleted: true });
    expect(await refusalOf(stage.client.conversations.retrieve(conversation.id))).toMatchObject({ status: 404 });
    expect(await refusalOf(stage.ask({ model: host, input: 'say-three', conversation: conversation.id }))).toMatchObject({ status: 404 });
    // Its items and turns were not deleted with it.
    expect(textOf(await stage.retrieveEnded(one.response.id))).toBe('said one');
  });

  test('a tool round, and a change of model in it', async () => {
    const conversation = await stage.client.conversations.create({});
    const one = await stage.ask({ model: 'beta', input: 'calls-one', tools, conversation: conversation.id });
    stage.takeRequests();
    const two = await stage.ask({
      model: 'gamma',
      tools,
      conversation: conversation.id,
      input: callsOf(one.response).map(({ call_id, name }) => ({ type: 'function_call_output', call_id, output: `output-${name}` })),
    });
    expect(textOf(two.response)).toBe('read find');
    expect(withoutIds(readSpoken('gamma', stage.takeRequests()[0]!.json)).map(([what]) => what)).toEqual(['user', 'call', 'call', 'result', 'result']);
  });

  test('items are added, read, deleted and listed both ways; metadata is exchanged', async () => {
    const { client } = stage;
    const conversation = await client.conversations.create({ items: [message('one')] });
    const added = await client.conversations.items.create(conversation.id, { items: [message('two'), message('three')] });
    expect(added).toMatchObject({ object: 'list', has_more: false });
    expect(textsOf(added.data)).toEqual(['two', 'three']);
    expect([added.first_id, added.last_id]).toEqual([added.data[0]!.id, added.data[1]!.id]);
    const ascending: Json[] = [];
    for await (const item of client.conversations.items.list(conversation.id, { order: 'asc', limit: 1 })) ascending.push(item);
    const descending: Json[] = [];
    for await (const item of client.conversations.items.list(conversation.id)) descending.push(item);
    expect([textsOf(ascending), textsOf(descending)]).toEqual([
      ['one', 'two', 'three'],
      ['three', 'two', 'one'],
    ]);
    const second = ascending[1].id as string;
    expect(await client.conversations.items.retrieve(second, { conversation_id: conversation.id })).toEqual(ascending[1]);
    expect(await client.conversations.items.delete(second, { conversation_id: conversation.id })).toMatchObject({
      id: conversation.id,
      object: 'conversation',
    });
    expect(await refusalOf(client.conversations.items.retrieve(second, { conversation_id: conversation.id }))).toMatchObject({ status: 404 });
    expect(await client.conversations.update(conversation.id, { metadata: { b: '2' } })).toEqual({ ...conversation, metadata: { b: '2' } });
    expect(await client.conversations.retrieve(conversation.id)).toEqual({ ...conversation, metadata: { b: '2' } });
    stage.takeRequests();
    await stage.ask({ model: 'alpha', input: 'say-four', conversation: conversation.id });
    expect(
      withoutIds(readSpoken('alpha', stage.takeRequests()[0]!.json))
        .map(([, text]) => text)
        .join(' '),
    ).toBe('one three say-four');
  });

  test('store:false answers and adds nothing, which is declared', async () => {
    const conversation = await stage.client.conversations.create({ items: [message('say-early')] });
    stage.takeRequests();
    const asked = await stage.ask({ model: 'beta', input: 'say-one', conversation: conversation.id, store: false });
    expect(JSON.stringify(stage.takeRequests()[0]!.json)).toContain('say-early');
    expect((await stage.client.conversations.items.list(conversation.id)).data).toHaveLength(1);
    expect((await stage.losses(asked.id)).map(({ field }) => field)).toContain('conversation');
  });

  test('one request at a time: another is 409, and the next goes on after it', async () => {
    const conversation = await stage.client.conversations.create({});
    const slow = stage.ask({ model: 'alpha text:40+slow:50', input: 'go', conversation: conversation.id }, { stream: true });
    await until(async () => stage.takeRequests().length === 1, 'the first to reach its upstream');
    const refused = await refusalOf(stage.ask({ model: 'alpha', input: 'say-two', conversation: conversation.id }));
    expect(refused).toMatchObject({ status: 409, code: 'conversation_locked' });
    expect((await slow).response.status).toBe('completed');
    const next = await stage.ask({ model: 'alpha', input: 'say-three', conversation: conversation.id });
    expect(textOf(next.response)).toBe('said three');
    await until(async () => (await stage.client.conversations.items.list(conversation.id)).data.length === 4, 'the items of both turns');
  });

  test('a caller who leaves lets go of the conversation', async () => {
    const conversation = await stage.client.conversations.create({});
    const stream = await stage.client.responses.create({ model: 'beta text:40+slow:50', input: 'go', conversation: conversation.id, stream: true });
    for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    await until(async () => {
      const asked = await stage.ask({ model: 'alpha', input: 'say-next', conversation: conversation.id });
      return textOf(asked.response) === 'said next';
    }, 'the next turn');
  });

  test('together with previous_response_id: 400', async () => {
    const conversation = await stage.client.conversations.create({});
    const one = await stage.ask({ model: 'alpha', input: 'say-one' });
    expect(
      await refusalOf(stage.ask({ model: 'alpha', input: 'say-two', conversation: conversation.id, previous_response_id: one.response.id })),
    ).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      message: expect.stringMatching(/previous_response_id.*conversation|conversation.*previous_response_id/),
    });
  });

  test.each<[string, string, string, unknown, number]>([
    ['21 items at once', 'POST', '/items', { items: Array.from({ length: 21 }, () => message('x')) }, 400],
    ['no items', 'POST', '/items', {}, 400],
    ['items that are none', 'POST', '/items', { items: [7] }, 400],
    ['no JSON', 'POST', '/items', '{', 400],
    ['metadata that is none', 'POST', '', { metadata: 7 }, 400],
    ['17 pairs of metadata', 'POST', '', { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v'])) }, 400],
    ['a page of 101', 'GET', '/items?limit=101', undefined, 400],
    ['a page after nothing', 'GET', '/items?after=msg_nothing', undefined, 400],
    ['an item that is not there', 'GET', '/items/msg_nothing', undefined, 404],
    ['deleting an item that is not there', 'DELETE', '/items/msg_nothing', undefined, 404],
    ['a method it does not have', 'PATCH', '', undefined, 405],
  ])('%s is refused', async (_what, method, path, body, status) => {
    const conversation = await stage.client.conversations.create({});
    const refused = await call(method, `/v1/conversations/${conversation.id}${path}`, body);
    expect(refused.status).toBe(status);
    expect(refused.json.error).toMatchObject({ message: expect.any(String) });
  });

  test('21 items at its beginning, and an id that is none', async () => {
    expect((await call('POST', '/v1/conversations', { items: Array.from({ length: 21 }, () => message('x')) })).status).toBe(400);
    expect((await call('GET', '/v1/conversations/conv_nothing')).status).toBe(404);
    expect((await call('GET', '/v1/conversations')).status).toBe(405);
    for (const conversation of [7, {}, { id: 7 }, []])
      expect((await call('POST', '/v1/responses', { model: 'alpha', input: 'say-one', conversation })).status).toBe(400);
    expect((await call('POST', '/v1/responses', { model: 'alpha', input: 'say-one', conversation: null })).status).toBe(200);
  });
});
