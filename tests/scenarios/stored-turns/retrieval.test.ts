/** Stored turns read back: by id with and without its prefix, their input in pages, deleted, and refused. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { arrangements, until } from '../../support/gateway.ts';
import { send } from '../../support/send.ts';
import { hostNames, type Json, openStage, refusalOf, type Stage, textOf, tools } from './stage.ts';

describe.each(arrangements('stored-turns/retrieval'))('a %s gateway', (arrangement) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ arrangement, borrowed: true });
  });
  afterAll(() => stage?.stop());

  /** As it is on the wire: SDKs add fields of their own. */
  const get = async (path: string, method = 'GET') => send(stage.gateway.url, path, { method, headers: { authorization: `Bearer ${stage.gateway.key}` } });

  describe.each(hostNames)('%s', (host) => {
    test.each([
      ['whole', false],
      ['streamed', true],
    ])('%s: one id everywhere, and GET gives what the caller saw last', async (_form, stream) => {
      const request = { model: host, input: 'call-one', tools, instructions: 'Be brief.', metadata: { of: 'me' }, temperature: 0.5, user: 'someone' };
      const { body, events } = await postRaw({ ...request, stream });
      expect(body.id).toMatch(/^resp_[\w-]+$/);
      for (const event of events) if (event.response) expect([event.type, event.response.id]).toEqual([event.type, body.id]);
      if (stream)
        expect(events.filter(({ response }) => response).map(({ type }) => type)).toEqual([
          ...['response.created', 'response.in_progress', 'response.completed'],
        ]);
      // The end of a turn may lie in an outbox for a moment when its caller has it already.
      await until(async () => (await get(`/v1/responses/${body.id}`)).json?.status === 'completed', 'the turn to be stored');
      const got = await get(`/v1/responses/${body.id}`);
      expect([got.status, got.headers['content-type']]).toEqual([200, expect.stringContaining('application/json')]);
      expect(got.json).toEqual(body);
      expect(got.json).not.toHaveProperty('input');
      expect(got.json).toMatchObject({ object: 'response', status: 'completed', model: host, store: true, previous_response_id: null });
      const bare = await get(`/v1/responses/${body.id.slice('resp_'.length)}`);
      expect([bare.status, bare.text]).toEqual([200, got.text]);
      expect((await get(`/v1/responses/${body.id}?include[]=file_search_call.results&include[]=reasoning.encrypted_content&stream=false`)).json).toEqual(body);
    });
  });

  async function postRaw(request: Json): Promise<{ body: Json; events: Json[] }> {
    const { status, text, json } = await send(stage.gateway.url, '/v1/responses', {
      headers: { authorization: `Bearer ${stage.gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    expect(status).toBe(200);
    if (!request.stream) return { body: json, events: [] };
    const events = text
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice('data: '.length)));
    return { body: events.at(-1).response, events };
  }

  test('a turn is deleted with and without the prefix, once', async () => {
    await Promise.all(
      [(id: string) => id, (id: string) => id.slice('resp_'.length)].map(async (idOf) => {
        const { response } = await stage.ask({ model: 'alpha', input: 'say-one' });
        const deleted = await get(`/v1/responses/${idOf(response.id)}`, 'DELETE');
        expect([deleted.status, deleted.json]).toEqual([200, { id: response.id, object: 'response.deleted', deleted: true }]);
        const again = await Promise.all(['GET', 'DELETE'].map((method) => get(`/v1/responses/${response.id}`, method)));
        expect(again.map(({ status }) => status)).toEqual([404, 404]);
      }),
    );
  });

  test('no such turn: 404 in the shape of the protocol', async () => {
    for (const [method, path] of [
      ['GET', '/v1/responses/resp_nothing'],
      ['DELETE', '/v1/responses/resp_nothing'],
      ['POST', '/v1/responses/resp_nothing/cancel'],
      ['GET', '/v1/responses/resp_nothing/input_items'],
      ['GET', '/v1/responses/x%00%27%20or%201=1--'],
      ['GET', `/v1/responses/${'x'.repeat(4000)}`],
    ] as const) {
      const { status, json } = await get(path, method);
      expect([path.slice(0, 60), status, json.error]).toEqual([path.slice(0, 60), 404, expect.objectContaining({ type: 'invalid_request_error' })]);
    }
    const stranger = await send(stage.gateway.url, '/v1/responses/resp_nothing', { method: 'GET' });
    expect(stranger.status).toBe(401);
  });

  test('input items in pages, both ways, with ids that stay', async () => {
    const input = Array.from({ length: 7 }, (_, at) => ({ role: 'user' as const, content: `say-${at}` }));
    const { response } = await stage.ask({ model: 'beta', input });
    const idsOf = async (order: 'asc' | 'desc' | undefined, limit: number) => {
      const ids: string[] = [];
      for await (const item of stage.client.responses.inputItems.list(response.id, {
        ...(order && { order }),
        limit,
        include: ['message.input_image.image_url'],
      }))
        ids.push(item.id as string);
      return ids;
    };
    const ascending = await idsOf('asc', 2);
    expect(new Set(ascending).size).toBe(7);
    for (const id of ascending) expect(id).toMatch(/^msg_/);
    expect(await idsOf('desc', 2)).toEqual([...ascending].reverse());
    expect(await idsOf(undefined, 100)).toEqual([...ascending].reverse());
    expect(await idsOf('asc', 3)).toEqual(ascending);
    const page = (await get(`/v1/responses/${response.id}/input_items?limit=2&order=asc`)).json;
    expect(page).toEqual({ object: 'list', data: expect.any(Array), first_id: ascending[0], last_id: ascending[1], has_more: true });
    expect(page.data[0]).toMatchObject({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'say-0' }] });
    const last = (await get(`/v1/responses/${response.id}/input_items?limit=2&order=asc&after=${ascending[5]}`)).json;
    expect([last.data.length, last.has_more, last.last_id]).toEqual([1, false, ascending[6]]);
    expect((await get(`/v1/responses/${response.id.slice('resp_'.length)}/input_items`)).json.data).toHaveLength(7);
  });

  test('input items are the turn’s own, and a text is one of them', async () => {
    const one = await stage.ask({ model: 'alpha', input: 'say-one' });
    const two = await stage.ask({ model: 'alpha', input: 'say-two', previous_response_id: one.response.id });
    expect((await get(`/v1/responses/${two.response.id}/input_items`)).json.data).toEqual([
      expect.objectContaining({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'say-two' }] }),
    ]);
  });

  test.each(['limit=0', 'limit=101', 'limit=x', 'limit=1.5', 'after=msg_nothing', 'order=sideways'])('input_items?%s is a 400', async (query) => {
    const { response } = await stage.ask({ model: 'alpha', input: 'say-one' });
    const { status, json } = await get(`/v1/responses/${response.id}/input_items?${query}`);
    expect([status, json.error.type, json.error.message]).toEqual([400, 'invalid_request_error', expect.stringContaining(query.split('=')[0] as string)]);
  });

  test('only background turns are cancelled, and a stream is taken up again only where there is one', async () => {
    const { response } = await stage.ask({ model: 'alpha', input: 'say-one' });
    expect(await refusalOf(stage.client.responses.cancel(response.id))).toMatchObject({ status: 400 });
    for (const after of ['x', '-1', '1.5']) {
      const refused = await get(`/v1/responses/${response.id}?stream=true&starting_after=${after}`);
      expect([after, refused.status, refused.json.error.message]).toEqual([after, 400, expect.stringContaining('starting_after')]);
    }
    const gone = await get(`/v1/responses/${response.id}?stream=true`);
    expect([gone.status, gone.json.error.code]).toEqual([400, 'stream_expired']);
    expect(gone.json.error.message).toContain('get the response without `stream`');
    expect((await get(`/v1/responses/${response.id}`)).status).toBe(200);
  });

  test('methods that the paths do not have are 405', async () => {
    for (const [method, path] of [
      ['PATCH', '/v1/responses/resp_x'],
      ['GET', '/v1/responses/resp_x/cancel'],
      ['POST', '/v1/responses/resp_x/input_items'],
    ] as const)
      expect([path, (await get(path, method)).status]).toEqual([path, 405]);
  });

  test('reads cost no rows of requests and reach no upstream', async () => {
    const { response, id } = await stage.ask({ model: 'alpha', input: 'say-one' });
    await stage.gateway.row(id);
    const before = (await stage.gateway.rows()).length;
    stage.takeRequests();
    for (let times = 0; times < 5; times++) await stage.client.responses.retrieve(response.id);
    expect(stage.takeRequests()).toEqual([]);
    const after = await stage.ask({ model: 'alpha', input: 'say-two' });
    await stage.gateway.row(after.id);
    expect((await stage.gateway.rows()).length).toBe(before + 1);
    expect(textOf(after.response)).toBe('said two');
  });
});
