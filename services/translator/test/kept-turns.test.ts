/** Turns that upstreams keep: gone on from where they are kept, and read where not; and a gateway that stores none itself. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../../../tests/support/in-process.ts';
import { MemoryTurns } from '../../../tests/support/memory-turns.ts';
import { createScriptedOutbound, type Script } from '../../../tests/support/scripted-outbound.ts';

// biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
type Json = any;

const json = (body: unknown, status = 200): Script => ({ status, contentType: 'application/json', chunks: [Buffer.from(JSON.stringify(body))], ending: 'end' });
const message = (text: string) => ({
  id: `msg_${text.toLowerCase()}`,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const response = (id: string, text: string, more: object = {}): Json => ({
  ...{ id, object: 'response', created_at: 1, status: 'completed', model: 'm', output: [message(text)] },
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  ...more,
});
const chatReply = json({
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'From chat' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
});
/** As the stream of a response says it. */
const streamed = (one: Json): Script => ({
  chunks: [
    ...[
      { type: 'response.created', response: { ...one, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...one.output[0], status: 'in_progress', content: [] } },
      { type: 'response.output_item.done', output_index: 0, item: one.output[0] },
      { type: 'response.completed', response: one },
    ].map((event, at) => Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`)),
  ],
  ending: 'end',
});

describe.each(['gateway', 'upstream'] as const)('where the %s keeps turns', (turnsKeptBy) => {
  const outbound = createScriptedOutbound();
  const turns = new MemoryTurns();
  let gateway: InProcessGateway;
  let calls = 0;

  beforeAll(async () => {
    gateway = await startInProcess({
      outbound,
      turns,
      turnsKeptBy,
      upstreams: [
        { name: 'chat', protocol: 'alpha', base_url: 'https://chat.test', api_keys: [{ key: 'sk-chat' }] },
        { name: 'responses', protocol: 'alpha_response', base_url: 'https://responses.test', api_keys: [{ key: 'sk-responses' }] },
        { name: 'others', protocol: 'alpha_response', base_url: 'https://others.test', api_keys: [{ key: 'sk-others' }] },
      ],
      models: ['chat', 'responses', 'others'].map((upstream) => ({ name: upstream, upstream, upstream_model_id: 'm' })),
    });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => {
    outbound.sent.length = 0;
    turns.mode = 'answers';
    turns.turns.clear();
    turns.writes.length = 0;
  });
  afterEach(() => {
    delete outbound.scriptOf;
  });

  async function call(
    path: string,
    body?: unknown,
    method = body === undefined ? 'GET' : 'POST',
  ): Promise<{ status: number; body: Json; text: string; headers: Headers }> {
    calls += 1;
    const answer = await fetch(`${gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': `call-${calls}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, text, headers: answer.headers, body: text.startsWith('{') ? JSON.parse(text) : undefined };
  }
  const row = (): Promise<Json> => gateway.row(`call-${calls}`);
  const lost = async (): Promise<string[]> => (await row()).losses.map(({ field }: Json) => field);
  async function respond(script: Script, body: object): ReturnType<typeof call> {
    outbound.script = script;
    const answer = await call('/v1/responses', { model: 'responses', input: 'Hello', ...body });
    await row();
    return answer;
  }
  const sent = (): Json => JSON.parse(outbound.sent.at(-1)?.body || 'null');
  const textsOf = (items: Json): string[] => items.map(({ content }: Json) => (typeof content === 'string' ? content : content[0].text));
  /** One that runs upstream in the background, and is over. */
  const begin = async (id = 'resp_kept'): Promise<void> => {
    await respond(json(response(id, 'Kept', { status: 'queued', output: [], background: true })), { background: true, input: 'First' });
    outbound.scriptOf = (url) => {
      if (url.endsWith(`/responses/${id}`)) return json(response(id, 'Kept', { background: true }));
      return url.includes(`/${id}/input_items`)
        ? json({
            object: 'list',
            data: [{ id: 'msg_first', type: 'message', role: 'user', content: [{ type: 'input_text', text: 'First' }] }],
            has_more: false,
          })
        : undefined;
    };
    outbound.sent.length = 0;
  };

  test('a request in the foreground goes on from a run of the same account by its name', async () => {
    await begin();
    const answer = await respond(json(response('resp_next', 'Next')), { input: 'Second', previous_response_id: 'resp_kept', background: false });
    expect(sent()).toMatchObject({ previous_response_id: 'resp_kept', input: 'Second' });
    expect(answer.body).toMatchObject({ status: 'completed', model: 'responses' });
    expect((await row()).losses).toEqual([]);
    if (turnsKeptBy === 'upstream') return;
    expect(answer.body.id).not.toBe('resp_next');
    expect(answer.body.previous_response_id).toBe('resp_kept');
    expect((await call(`/v1/responses/${answer.body.id}`)).body).toEqual(answer.body);
    // The next turn is one that the gateway stores: it reads what is upstream.
    await respond(json(response('resp_third', 'Third')), { input: 'Third', previous_response_id: answer.body.id });
    expect(textsOf(sent().input)).toEqual(['First', 'Kept', 'Second', 'Next', 'Third']);
    expect(sent().previous_response_id).toBeUndefined();
  });

  test('one that is still under way is waited for, and then refused', async () => {
    await begin();
    const polled = { count: 0 };
    outbound.scriptOf = (url) => {
      if (!url.endsWith('/responses/resp_kept')) return undefined;
      polled.count += 1;
      return json(response('resp_kept', 'Kept', { status: polled.count < 3 ? 'in_progress' : 'completed', background: true }));
    };
    const answer = await respond(json(response('resp_next', 'Next')), { input: 'Second', previous_response_id: 'resp_kept' });
    expect([answer.status, polled.count]).toEqual([200, 3]);
  });

  test('one that its upstream has forgotten is as one that never was', async () => {
    await begin();
    outbound.scriptOf = (url) =>
      url.includes('/responses/resp_kept') ? json({ error: { message: 'not found', type: 'invalid_request_error' } }, 404) : undefined;
    const answer = await respond(json(response('resp_next', 'Next')), { input: 'Second', previous_response_id: 'resp_kept' });
    expect(answer.status).toBe(200);
    expect(sent().previous_response_id).toBeUndefined();
    expect(await lost()).toEqual(['previous_response_id']);
  });

  test('an upstream that keeps nothing of the kind', async () => {
    await begin();
    for (const [model, script] of [
      ['others', json(response('resp_other', 'Other'))],
      ['chat', chatReply],
    ] as const) {
      await respond(script, { model, input: 'Second', previous_response_id: 'resp_kept' });
      const items = sent().messages ?? sent().input;
      if (turnsKeptBy === 'gateway') {
        expect(textsOf(items)).toEqual(['First', 'Kept', 'Second']);
        expect(await lost()).not.toContain('previous_response_id');
      } else {
        expect(typeof items === 'string' ? [items] : textsOf(items)).toEqual(['Second']);
        expect(await lost()).toContain('previous_response_id');
      }
      expect(sent().previous_response_id).toBeUndefined();
    }
  });

  test('items that only the upstream knows are resolved from what it keeps, and never by name', async () => {
    await begin();
    const input = [
      { type: 'item_reference', id: 'msg_kept' },
      { role: 'user', content: 'Second' },
    ];
    const answer = await respond(json(response('resp_next', 'Next')), { input, previous_response_id: 'resp_kept' });
    if (turnsKeptBy === 'gateway') expect(textsOf(sent().input)).toEqual(['First', 'Kept', 'Kept', 'Second']);
    else expect([answer.status, outbound.sent.length]).toEqual([404, 0]);
    const foreign = [
      { type: 'item_reference', id: 'msg_foreign' },
      { role: 'user', content: 'Second' },
    ];
    expect((await respond(json(response('resp_next', 'Next')), { input: foreign, previous_response_id: 'resp_kept' })).status).toBe(404);
  });

  if (turnsKeptBy === 'gateway') return;

  test.each([false, true])('a reply is its upstream’s own, and its owner is noted (stream: %s)', async (stream) => {
    const own = response('resp_own', 'Hi');
    for (const store of [undefined, true]) {
      turns.turns.clear();
      const answer = await respond(stream ? streamed(own) : json(own), { store, stream });
      expect(answer.text).toContain('resp_own');
      if (store) expect(sent().store).toBe(true);
      else expect(sent()).not.toHaveProperty('store');
      expect(await row()).toMatchObject({ losses: [], turn_id: 'resp_own' });
      expect(turns.turns.get('resp_own')).toMatchObject({
        input: [],
        response: null,
        facts: { background: false, at: { upstream: 'responses', model: 'responses' } },
      });
    }
    outbound.script = json(own);
    outbound.sent.length = 0;
    expect((await call('/v1/responses/resp_own')).body).toEqual({ ...own, model: 'responses' });
    expect(outbound.sent).toMatchObject([{ method: 'GET', url: 'https://responses.test/v1/responses/resp_own' }]);
    outbound.script = json({ id: 'resp_own', object: 'response.deleted', deleted: true });
    expect((await call('/v1/responses/resp_own', undefined, 'DELETE')).status).toBe(200);
    expect((await call('/v1/responses/resp_own')).status).toBe(404);
  });

  test('nothing is noted of what is not to be stored, or was made elsewhere', async () => {
    await respond(json(response('resp_own', 'Hi')), { store: false });
    await respond(chatReply, { model: 'chat' });
    expect(await row()).toMatchObject({ losses: [], turn_id: null });
    expect(turns.writes).toEqual([]);
    await respond(chatReply, { model: 'chat', store: true });
    expect(await lost()).toEqual(['store']);
    expect((await call('/v1/responses/resp_own')).status).toBe(404);
  });

  test('another key’s response is neither read nor gone on from', async () => {
    await respond(json(response('resp_own', 'Hi')), {});
    const [turn] = turns.turns.values();
    turn!.facts.owner = 'somebody-else';
    outbound.sent.length = 0;
    expect((await call('/v1/responses/resp_own')).status).toBe(404);
    expect(outbound.sent).toEqual([]);
    for (const previous_response_id of ['resp_own', 'resp_never']) {
      expect((await respond(json(response('resp_next', 'Hi')), { previous_response_id })).status).toBe(200);
      expect(sent()).not.toHaveProperty('previous_response_id');
      expect(await lost()).toEqual(['previous_response_id']);
    }
  });

  test('a chain goes on at its account, whatever it was made with', async () => {
    await respond(json(response('resp_one', 'One')), {});
    for (const path of ['/v1/responses', '/v1/responses/input_tokens', '/v1/responses/compact']) {
      outbound.script = json(path.endsWith('tokens') ? { object: 'response.input_tokens', input_tokens: 7 } : response('resp_two', 'Two'));
      expect((await call(path, { model: 'responses', input: 'More', previous_response_id: 'resp_one' })).status).toBe(200);
      expect(sent()).toMatchObject({ previous_response_id: 'resp_one', input: 'More' });
      await row();
    }
    expect(turns.turns.get('resp_two')?.facts.parent).toBe('resp_one');
  });

  test('while the store is away: a request is answered and noted later, one that goes on is to be asked again', async () => {
    turns.mode = 'refuses';
    expect((await respond(json(response('resp_own', 'Hi')), {})).status).toBe(200);
    expect((await row()).losses).toEqual([]);
    expect(gateway.busStats().outboxItems).toBeGreaterThan(0);
    expect((await respond(json(response('resp_two', 'Hi')), { previous_response_id: 'resp_own' })).status).toBe(503);
  });

  test('conversations are refused', async () => {
    expect((await call('/v1/conversations', {})).status).toBe(404);
    for (const model of ['chat', 'responses']) {
      const refused = await respond(chatReply, { model, conversation: 'conv_1' });
      expect([refused.status, refused.body.error.param]).toEqual([400, 'conversation']);
    }
    expect((await respond(chatReply, { model: 'chat', background: true })).status).toBe(400);
    expect(outbound.sent).toEqual([]);
  });
});
