/** Stored turns through the whole gateway, with a store that a test can take away. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess, until } from '../../../tests/support/in-process.ts';
import { MemoryTurns } from '../../../tests/support/memory-turns.ts';
import { createScriptedOutbound, type Script } from '../../../tests/support/scripted-outbound.ts';

// biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
type Json = any;

const outbound = createScriptedOutbound();
const turns = new MemoryTurns();
let gateway: InProcessGateway;

beforeAll(async () => {
  gateway = await startInProcess({
    outbound,
    turns,
    upstreams: [
      { name: 'chat', protocol: 'alpha', base_url: 'https://chat.test', api_keys: [{ key: 'sk-chat' }] },
      { name: 'messages', protocol: 'beta', base_url: 'https://messages.test', api_keys: [{ key: 'sk-messages' }] },
      { name: 'responses', protocol: 'alpha_response', base_url: 'https://responses.test', api_keys: [{ key: 'sk-responses' }] },
    ],
    models: ['chat', 'messages', 'responses'].map((upstream) => ({ name: upstream, upstream, upstream_model_id: 'm' })),
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.sent.length = 0;
  turns.mode = 'answers';
  turns.writes.length = 0;
});

const json = (body: unknown): Script => ({ contentType: 'application/json', chunks: [Buffer.from(JSON.stringify(body))], ending: 'end' });
const chatReply = (content: string): Script =>
  json({
    id: 'c',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
  });
const chatChunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const chatStream = (...words: string[]): Buffer[] => [
  ...words.map((content) => Buffer.from(chatChunk({ role: 'assistant', content }))),
  Buffer.from(`${chatChunk({}, 'stop')}data: [DONE]\n\n`),
];
const ownReply = (text: string): Script =>
  json({
    id: 'resp_upstream',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    output: [{ id: 'msg_up', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] }],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  });

interface Answer {
  status: number;
  text: string;
  body: Json;
  headers: Headers;
  events: Json[];
}

let calls = 0;
/** The row of the last call. */
const row = (): Promise<Json> => gateway.row(`call-${calls}`);

async function call(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST'): Promise<Answer> {
  calls += 1;
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': `call-${calls}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const events = text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
  return { status: response.status, text, headers: response.headers, events, body: text.startsWith('{') ? JSON.parse(text) : undefined };
}
const respond = (body: object): Promise<Answer> => call('/v1/responses', { model: 'chat', input: 'Hello', ...body });
const sent = (): Json => JSON.parse(outbound.sent.at(-1)?.body ?? 'null');
async function reply(script: Script, body: object): Promise<Answer> {
  outbound.script = script;
  const answer = await respond(body);
  await row();
  return answer;
}

describe('a turn', () => {
  test('is what its caller saw, and goes on with another vendor', async () => {
    const first = await reply(chatReply('Hi there'), { input: 'My name is Ann.' });
    expect(first.body).toMatchObject({ id: expect.stringMatching(/^resp_/), status: 'completed', store: true, previous_response_id: null });
    expect((await row()).turn_id).toBe(first.body.id);
    expect((await call(`/v1/responses/${first.body.id}`)).body).toEqual(first.body);
    expect((await call(`/v1/responses/${first.body.id.slice(5)}`)).body).toEqual(first.body);
    const second = await reply(
      json({
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'Ann' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
      { model: 'messages', input: 'What is my name?', previous_response_id: first.body.id },
    );
    expect(second.body.previous_response_id).toBe(first.body.id);
    const text = (content: Json): string => (typeof content === 'string' ? content : content.map((part: Json) => part.text).join(''));
    expect(sent().messages.map((one: Json) => [one.role, text(one.content)])).toEqual([
      ['user', 'My name is Ann.'],
      ['assistant', 'Hi there'],
      ['user', 'What is my name?'],
    ]);
  });

  test('streamed: one id in every event, and the object of the last event is what is stored', async () => {
    const { events } = await reply({ chunks: chatStream('Hi', ' there'), ending: 'end' }, { stream: true });
    const ids = new Set(events.flatMap(({ response }) => (response ? [response.id] : [])));
    expect(ids.size).toBe(1);
    const last = events.at(-1);
    expect(last.type).toBe('response.completed');
    expect((await call(`/v1/responses/${last.response.id}`)).body).toEqual(last.response);
    expect(turns.writes.map(({ kind }) => kind)).toEqual(['begin', 'finish']);
  });

  test('passing verbatim: the gateway names it, and the upstream is asked without the gateway id', async () => {
    const first = await reply(ownReply('One'), { model: 'responses' });
    expect(first.body.id).not.toBe('resp_upstream');
    const second = await reply(ownReply('Two'), { model: 'responses', input: 'And?', previous_response_id: first.body.id });
    expect(sent().previous_response_id).toBeUndefined();
    expect(sent().input).toHaveLength(3);
    expect((await call(`/v1/responses/${second.body.id}`)).body).toEqual(second.body);
  });

  test.each([false, true])('passing verbatim: reasoning that the upstream says it left aside is in the receipt (stream: %s)', async (stream) => {
    const whole = JSON.parse(Buffer.from(ownReply('Hi').chunks[0]!).toString());
    const input_transformations = [{ type: 'reasoning', id: 'rs_1', action: 'removed', reason: 'model_mismatch' }];
    const events = [
      { type: 'response.created', response: { ...whole, status: 'in_progress', output: [], input_transformations } },
      { type: 'response.output_item.added', output_index: 0, item: { ...whole.output[0], content: [] } },
      { type: 'response.output_item.done', output_index: 0, item: whole.output[0] },
      { type: 'response.completed', response: { ...whole, input_transformations } },
    ].map((event, at) => Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`));
    const script: Script = stream ? { chunks: events, ending: 'end' } : json({ ...whole, input_transformations });
    const answer = await reply(script, { model: 'responses', stream });
    expect((stream ? answer.events.at(-1).response : answer.body).input_transformations).toEqual(input_transformations);
    expect(answer.headers.get('x-gateway-translation')).toContain('lost=1');
    expect((await row()).losses).toEqual([
      expect.objectContaining({ field: 'input.reasoning', action: 'dropped', detail: expect.stringContaining('left earlier reasoning aside') }),
    ]);
  });

  test('is gone on from without the prefix of its id, too, and its reply names the whole id', async () => {
    const first = await reply(chatReply('One'), { input: 'First' });
    const second = await reply(chatReply('Two'), { input: 'Second', previous_response_id: first.body.id.slice(5) });
    expect(sent().messages.map(({ content }: Json) => content)).toEqual(['First', 'One', 'Second']);
    expect(second.body.previous_response_id).toBe(first.body.id);
    await reply(chatReply('Three'), { input: 'Third', previous_response_id: second.body.id.slice(5) });
    expect(sent().messages).toHaveLength(5);
  });

  test('store: false is not kept, and going on from it is the current turn alone, declared', async () => {
    const first = await reply(chatReply('Hi'), { store: false });
    expect((await call(`/v1/responses/${first.body.id}`)).status).toBe(404);
    for (const previous_response_id of [first.body.id, 'resp_never', 'x y', 'y'.repeat(300)]) {
      const second = await reply(chatReply('Hi'), { previous_response_id });
      expect([second.status, second.body.previous_response_id, sent().messages]).toEqual([200, null, [{ role: 'user', content: 'Hello' }]]);
      expect(second.headers.get('x-gateway-translation')).toContain('lost=');
      expect((await row()).losses).toContainEqual(expect.objectContaining({ field: 'previous_response_id', action: 'dropped' }));
    }
  });

  test('what goes on from turns whose beginning has expired says so', async () => {
    const first = await reply(chatReply('One'), { input: 'First' });
    const second = await reply(chatReply('Two'), { input: 'Second', previous_response_id: first.body.id });
    const third = await reply(chatReply('Three'), { input: 'Third', previous_response_id: second.body.id });
    expect((await row()).losses).toEqual([]);
    turns.turns.delete(first.body.id);
    const fourth = await reply(chatReply('Four'), { input: 'Fourth', previous_response_id: third.body.id });
    expect(sent().messages.map(({ content }: Json) => content)).toEqual(['Second', 'Two', 'Third', 'Three', 'Fourth']);
    expect(fourth.body.previous_response_id).toBe(third.body.id);
    expect(fourth.headers.get('x-gateway-translation')).toContain('lost=');
    expect((await row()).losses).toEqual([
      expect.objectContaining({ field: 'previous_response_id', action: 'dropped', detail: expect.stringContaining('no longer stored') }),
    ]);
  });

  test('a stream that breaks ends as its caller saw it end', async () => {
    const { events } = await reply({ chunks: chatStream('Half').slice(0, 1), ending: 'reset' }, { stream: true });
    const last = events.at(-1);
    const stored = (await call(`/v1/responses/${last.response.id}`)).body;
    expect(stored).toMatchObject({ status: 'incomplete', output: [{ content: [{ text: 'Half' }] }] });
    expect(stored.output).toEqual(last.response.output);
    outbound.script = chatReply('ok');
    await respond({ previous_response_id: stored.id, input: 'Go on' });
    expect(sent().messages.map(({ content }: Json) => content)).toEqual(['Hello', 'Half', 'Go on']);
  });

  test('its caller leaves: what was delivered is kept', async () => {
    outbound.script = { chunks: chatStream('Half').slice(0, 1), ending: 'hang' };
    const aborter = new AbortController();
    const response = await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      signal: aborter.signal,
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat', input: 'Hello', stream: true }),
    });
    await response.body?.getReader().read();
    aborter.abort();
    const [id] = await until(() => [...turns.turns.keys()].slice(-1), 'the turn');
    await until(() => turns.turns.get(id!)?.facts.status === 'incomplete', 'its end');
    expect(turns.turns.get(id!)?.response.output[0].content[0].text).toBe('Half');
  });

  test('what fails before any content leaves none behind', async () => {
    const known = turns.turns.size;
    expect((await reply({ status: 400, contentType: 'application/json', chunks: [Buffer.from('{"error":{"message":"no"}}')], ending: 'end' }, {})).status).toBe(
      400,
    );
    expect([turns.turns.size, turns.writes]).toEqual([known, []]);
    // A failed request had nothing to store: its row does not say that storing failed.
    expect(await row()).toMatchObject({ turn_id: null, losses: [] });
  });

  test('item references: of stored turns, else 404 naming the item', async () => {
    const first = await reply(chatReply('Hi there'), {});
    const { id } = first.body.output[0];
    await reply(chatReply('ok'), {
      input: [
        { type: 'item_reference', id },
        { role: 'user', content: 'And?' },
      ],
    });
    expect(sent().messages.map(({ content }: Json) => content)).toEqual(['Hi there', 'And?']);
    const missing = await respond({ input: [{ type: 'item_reference', id: 'msg_x' }] });
    expect([missing.status, missing.body.error.message]).toEqual([404, "Item with id 'msg_x' not found."]);
  });

  test('item references: an item on its way to a busy store is waited for', async () => {
    const first = await reply(chatReply('Hi there'), {});
    const turn = turns.turns.get(first.body.id)!;
    turn.deleted = true;
    turns.reads.length = 0;
    const next = reply(chatReply('ok'), { input: [{ type: 'item_reference', id: first.body.output[0].id }] });
    await until(() => turns.reads.length > 0, 'the first look');
    turn.deleted = false;
    expect((await next).status).toBe(200);
    expect(sent().messages.map(({ content }: Json) => content)).toEqual(['Hi there']);
  });

  test.each([true, false])('an item of an id alone is a reference too, with store: %s', async (store) => {
    const first = await reply(chatReply('Hi there'), {});
    const { id } = first.body.output[0];
    for (const model of ['chat', 'responses']) {
      for (const item of [{ id }, { id, type: null }]) {
        const script = model === 'chat' ? chatReply('ok') : ownReply('ok');
        await reply(script, { model, store, input: [item, { role: 'user', content: 'And?' }] });
        const items = sent().messages ?? sent().input;
        expect(items.map(({ content }: Json) => (typeof content === 'string' ? content : content[0].text))).toEqual(['Hi there', 'And?']);
      }
      outbound.sent.length = 0;
      const missing = await respond({ model, store, input: [{ id: 'msg_x' }] });
      expect([missing.status, missing.body.error.message]).toEqual([404, "Item with id 'msg_x' not found."]);
      expect(outbound.sent).toEqual([]);
    }
  });

  test('more references than one question to the store may hold', async () => {
    const ids = Array.from({ length: 12_000 }, (_, at) => `msg_many${at}`);
    turns.turns.set('resp_many', {
      facts: { ...turns.turns.values().next().value!.facts, id: 'resp_many', parent: null, owner: 'caller-id', status: 'completed' },
      input: ids.map((id, at) => ({ id, type: 'message', role: 'user', content: `${at}` })),
      response: { output: [] },
      deleted: false,
      authority: 2,
    });
    await reply(chatReply('ok'), { input: ids.map((id) => ({ type: 'item_reference', id })) });
    expect(JSON.stringify(sent().messages)).toContain('11999');
    turns.turns.delete('resp_many');
  });

  test('counting and compacting read the history too, and store nothing', async () => {
    const first = await reply(chatReply('A long answer with many words in it'), {});
    turns.writes.length = 0;
    const [alone, whole] = await Promise.all([
      call('/v1/responses/input_tokens', { model: 'chat', input: 'Hello' }),
      call('/v1/responses/input_tokens', { model: 'chat', input: 'Hello', previous_response_id: first.body.id }),
    ]);
    expect(whole.body.input_tokens).toBeGreaterThan(alone.body.input_tokens + 8);
    expect(turns.writes).toEqual([]);
  });
});

describe('while the store is away', () => {
  test.each(['refuses', 'is-silent'] as const)('%s: a request that only stores is answered, and its turn lies in the outbox', async (mode) => {
    turns.mode = mode;
    const answer = await reply({ chunks: chatStream('Hi'), ending: 'end' }, { stream: true });
    expect(answer.events.at(-1).type).toBe('response.completed');
    expect(gateway.busStats().outboxItems).toBeGreaterThan(0);
  });

  test('one that reads it is refused, to be asked again', async () => {
    turns.mode = 'refuses';
    for (const body of [{ previous_response_id: 'resp_1' }, { conversation: 'conv_1' }, { input: [{ type: 'item_reference', id: 'msg_1' }] }]) {
      const { status, headers } = await respond(body);
      expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    }
    expect((await call('/v1/responses/resp_1')).status).toBe(503);
  });

  test('a key whose bytes are used up is answered, with a declared loss', async () => {
    turns.mode = 'is-full';
    for (const [script, body] of [
      [chatReply('Hi'), {}],
      [{ chunks: chatStream('Hi'), ending: 'end' }, { stream: true }],
    ] as [Script, object][]) {
      expect((await reply(script, body)).status).toBe(200);
      expect(await row()).toMatchObject({ turn_id: null, losses: expect.arrayContaining([expect.objectContaining({ field: 'store' })]) });
    }
  });
});

describe('calls', () => {
  test('what is not there is the same 404 whatever was asked', async () => {
    turns.turns.set('resp_foreign', {
      facts: { ...[...turns.turns.values()][0]!.facts, id: 'resp_foreign', owner: 'another' },
      input: [],
      response: {},
      deleted: false,
      authority: 2,
    });
    const calls = ['resp_foreign', 'resp_never', 'never', '%20', 'x'.repeat(400)].flatMap((id) =>
      (
        [
          ['', 'GET'],
          ['', 'DELETE'],
          ['/cancel', 'POST'],
          ['/input_items', 'GET'],
        ] as const
      ).map(([path, method]) => ({ id, path, method })),
    );
    // Side by side: what is not there is looked for again for a while.
    const answers = await Promise.all(calls.map(({ id, path, method }) => call(`/v1/responses/${id}${path}`, undefined, method)));
    for (const { status, body } of answers) expect([status, body.error.message.replace(/'.*'/, '')]).toEqual([404, 'Response with id  not found.']);
  });

  test('a deleted one is not looked for again', async () => {
    const { body } = await reply(chatReply('one'), { input: 'a' });
    await call(`/v1/responses/${body.id}`, undefined, 'DELETE');
    turns.reads.length = 0;
    for (const [path, method] of [
      ['', 'GET'],
      ['', 'DELETE'],
      ['/cancel', 'POST'],
      ['/input_items', 'GET'],
    ] as const)
      expect((await call(`/v1/responses/${body.id}${path}`, undefined, method)).status).toBe(404);
    expect(turns.reads).toHaveLength(4);
  });

  test('DELETE leaves descendants, and its ancestors in their history', async () => {
    const first = await reply(chatReply('one'), { input: 'a' });
    const second = await reply(chatReply('two'), { input: 'b', previous_response_id: first.body.id });
    const third = await reply(chatReply('three'), { input: 'c', previous_response_id: second.body.id });
    expect((await call(`/v1/responses/${second.body.id}`, undefined, 'DELETE')).body).toEqual({
      id: second.body.id,
      object: 'response.deleted',
      deleted: true,
    });
    expect((await call(`/v1/responses/${third.body.id}`)).status).toBe(200);
    await reply(chatReply('four'), { input: 'd', previous_response_id: third.body.id });
    expect(sent().messages.map(({ content }: Json) => content)).toEqual(['a', 'one', 'c', 'three', 'd']);
  });

  test('input_items: pages, order, bounds', async () => {
    const input = ['a', 'b', 'c'].map((content) => ({ role: 'user', content }));
    const { body } = await reply(chatReply('ok'), { input });
    const first = (await call(`/v1/responses/${body.id}/input_items?limit=2&order=asc&include[]=x`)).body;
    expect([first.object, first.data.length, first.has_more]).toEqual(['list', 2, true]);
    const rest = (await call(`/v1/responses/${body.id}/input_items?limit=2&order=asc&after=${first.last_id}`)).body;
    expect([rest.data.length, rest.has_more, new Set([...first.data, ...rest.data].map(({ id }: Json) => id)).size]).toEqual([1, false, 3]);
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'order=up', 'after=msg_never'])
      expect((await call(`/v1/responses/${body.id}/input_items?${query}`)).status).toBe(400);
  });

  test('cancel: background turns alone', async () => {
    const { body } = await reply(chatReply('ok'), {});
    expect((await call(`/v1/responses/${body.id}/cancel`, undefined, 'POST')).status).toBe(400);
  });

  test('a conversation: created, used twice, listed, deleted', async () => {
    const { body: conversation } = await call('/v1/conversations', { metadata: { topic: 'x' } });
    expect(conversation).toMatchObject({ object: 'conversation', metadata: { topic: 'x' } });
    const first = await reply(chatReply('one'), { input: 'a', conversation: conversation.id });
    expect(first.body.conversation).toEqual({ id: conversation.id });
    await reply({ chunks: chatStream('two'), ending: 'end' }, { input: 'b', conversation: { id: conversation.id }, stream: true });
    expect(sent().messages.map(({ content }: Json) => content)).toEqual(['a', 'one', 'b']);
    const items = (await call(`/v1/conversations/${conversation.id}/items?order=asc`)).body;
    expect(items.data.map(({ role }: Json) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    const item = items.data[0].id;
    expect((await call(`/v1/conversations/${conversation.id}/items/${item}`)).body.id).toBe(item);
    expect((await call(`/v1/conversations/${conversation.id}/items/${item}`, undefined, 'DELETE')).body.id).toBe(conversation.id);
    expect((await call(`/v1/conversations/${conversation.id}/items`, { items: [{ role: 'user', content: 'more' }] })).body.data).toHaveLength(1);
    expect((await call(`/v1/conversations/${conversation.id}`, { metadata: { topic: 'y' } })).body.metadata).toEqual({ topic: 'y' });
    expect((await call(`/v1/conversations/${conversation.id}`, undefined, 'DELETE')).body.deleted).toBe(true);
    expect((await call(`/v1/conversations/${conversation.id}`)).status).toBe(404);
  });

  test('a conversation takes one request at a time; one that failed lets it go', async () => {
    const { body: conversation } = await call('/v1/conversations', {});
    expect((await respond({ conversation: 'conv_never' })).status).toBe(404);
    expect((await respond({ conversation: conversation.id, previous_response_id: 'resp_1' })).status).toBe(400);
    await reply({ status: 400, contentType: 'application/json', chunks: [Buffer.from('{}')], ending: 'end' }, { conversation: conversation.id });
    outbound.script = { chunks: chatStream('Half').slice(0, 1), ending: 'hang' };
    const aborter = new AbortController();
    const open = await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      signal: aborter.signal,
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat', input: 'a', conversation: conversation.id, stream: true }),
    });
    await open.body?.getReader().read();
    const second = await respond({ conversation: conversation.id });
    expect([second.status, second.body.error.code]).toEqual([409, 'conversation_locked']);
    aborter.abort();
    await until(() => ![...turns.turns.values()].some(({ facts }) => facts.conversation === conversation.id && facts.status === 'in_progress'), 'its end');
    expect((await reply(chatReply('ok'), { conversation: conversation.id, store: false })).status).toBe(200);
    expect(await row()).toMatchObject({ losses: [expect.objectContaining({ field: 'conversation' })] });
  });
});

describe('a run without its caller', () => {
  const queued = (body: object = {}): Promise<Answer> => respond({ background: true, ...body });

  test('is answered at once, goes on, and ends in the stored turn', async () => {
    outbound.script = { chunks: chatStream('Hi', ' there'), ending: 'end' };
    const { body } = await queued();
    const run = `call-${calls}`;
    expect(body).toMatchObject({ id: expect.stringMatching(/^resp_/), status: 'queued', background: true, output: [] });
    const done = await until(async () => {
      const answer = (await call(`/v1/responses/${body.id}`)).body;
      return answer.status === 'completed' && answer;
    }, 'its end');
    expect(done).toMatchObject({ id: body.id, background: true, output: [{ content: [{ text: 'Hi there' }] }] });
    expect((await gateway.row(run)).turn_id).toBe(body.id);
    const { events } = await call(`/v1/responses/${body.id}?stream=true&starting_after=1`);
    expect(events[0].sequence_number).toBe(2);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { id: body.id } });
  });

  test('fails with the upstream', async () => {
    outbound.script = { status: 400, contentType: 'application/json', chunks: [Buffer.from('{"error":{"message":"no"}}')], ending: 'end' };
    const { body } = await queued();
    const failed = await until(async () => {
      const answer = (await call(`/v1/responses/${body.id}`)).body;
      return answer.status === 'failed' && answer;
    }, 'its end');
    expect(failed.error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
  });

  test('is cancelled: the upstream is given up, and what was said stays', async () => {
    outbound.script = { chunks: chatStream('Half').slice(0, 1), ending: 'hang' };
    const { aborted } = outbound;
    const { body } = await queued();
    await until(() => outbound.sent.length > 0, 'the call of the upstream');
    const cancelled = await call(`/v1/responses/${body.id}/cancel`, undefined, 'POST');
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
    await until(() => outbound.aborted > aborted, 'the end of the call');
    expect((await call(`/v1/responses/${body.id}/cancel`, undefined, 'POST')).body.status).toBe('cancelled');
    expect((await call(`/v1/responses/${body.id}`)).body.status).toBe('cancelled');
  });

  test('needs the store', async () => {
    expect((await queued({ store: false })).status).toBe(400);
    turns.mode = 'refuses';
    expect((await queued()).status).toBe(503);
    turns.mode = 'is-full';
    expect((await queued()).status).toBe(400);
    expect(outbound.sent).toEqual([]);
  });

  test('streamed: its caller is the first reader', async () => {
    outbound.script = { chunks: chatStream('Hi'), ending: 'end' };
    const { events } = await queued({ stream: true });
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { background: true } });
    expect((await call(`/v1/responses/${events.at(-1).response.id}`)).body).toEqual(events.at(-1).response);
  });
});
