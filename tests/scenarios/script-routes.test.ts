/** Scripts where one request takes several ways: keys that fail, signatures of an account, replies that come as streams, token counts. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { encodeMessage } from '../fake-upstream/event-stream.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { type Asked, createAnsweringOutbound, jsonScript, streamScript } from '../support/scripted-upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read freely; a wrong guess shows as a failed comparison.
type Body = any;

const script = (statements: string): string => `function transform(body, context) {\n${statements}\n}`;
const outbound = createAnsweringOutbound();
let gateway: InProcessGateway;

beforeAll(async () => {
  const upstream = (name: string, protocol: 'alpha' | 'beta' | 'cloudhost_ide_streaming', accounts: string[], more: object = {}) => ({
    name,
    protocol,
    base_url: `https://${name}.test`,
    api_keys: accounts.map((account) => ({ key: `sk-${account}`, account })),
    ...more,
  });
  const reply = script('body.seen = uuid(); body.choices[0].message.content += "!"; return body');
  gateway = await startInProcess({
    outbound,
    scripts: true,
    upstreams: [
      upstream('one', 'beta', ['a']),
      upstream('two', 'beta', ['b']),
      upstream('keys', 'alpha', ['c', 'd']),
      upstream('chat', 'alpha', ['e']),
      upstream('late', 'alpha', ['h']),
      upstream('ide', 'cloudhost_ide_streaming', ['f']),
      upstream('strict', 'alpha', ['g'], { script_error_mode: 'log-and-reject' }),
      upstream('off', 'alpha', ['i'], { enabled: false }),
    ],
    models: [
      { name: 'target', upstream: 'two', upstream_model_id: 'claude-sonnet-4-5', aliases: ['target-alias'] },
      {
        name: 'origin',
        upstream: 'one',
        upstream_model_id: 'claude-sonnet-4-5',
        request_transform_after: script('if (context.headers["x-go"]) context.useModel(context.headers["x-go"]); return body'),
        aliases: ['here'],
      },
      { name: 'rotates', upstream: 'keys', upstream_model_id: 'm', request_transform_after: script('body.user = uuid(); return body') },
      { name: 'folded', upstream: 'chat', upstream_model_id: 'm', response_transform: reply },
      { name: 'folded-fails', upstream: 'strict', upstream_model_id: 'm', response_transform: script('throw 1') },
      { name: 'folded-breaks', upstream: 'chat', upstream_model_id: 'm', response_transform: script('return {}') },
      { name: 'ide', upstream: 'ide', upstream_model_id: 'm', response_transform: script('body.seen = context.targetProtocol; return body') },
      { name: 'counted', upstream: 'chat', upstream_model_id: 'm', request_transform_before: script('body.system = "From the script."; return body') },
      { name: 'counted-elsewhere', upstream: 'chat', upstream_model_id: 'm', request_transform_before: script('context.useModel("target"); return body') },
      { name: 'counted-here', upstream: 'two', upstream_model_id: 'm', request_transform_before: script('body.system = "From the script."; return body') },
      {
        name: 'counted-after',
        upstream: 'two',
        upstream_model_id: 'm',
        request_transform_after: script('body.temperature = 1; context.useModel("origin"); return body'),
      },
      { name: 'counted-fails', upstream: 'strict', upstream_model_id: 'm', request_transform_before: script('throw 1') },
      {
        name: 'first-node',
        upstream: 'chat',
        upstream_model_id: 'down',
        request_body_rules: [{ mode: 'append', path: 'stop', value: 'FIRST' }],
        request_transform_before: script('body.user = "first"; return body'),
      },
      {
        name: 'second-node',
        upstream: 'keys',
        upstream_model_id: 'down',
        request_body_rules: [{ mode: 'append', path: 'stop', value: 'SECOND' }],
        request_transform_after: script('body.seed = 2; return body'),
      },
      { name: 'third-node', upstream: 'two', upstream_model_id: 'm', request_body_rules: [{ mode: 'append', path: 'stop_sequences', value: 'THIRD' }] },
      {
        name: 'to-first',
        upstream: 'strict',
        upstream_model_id: 'm',
        request_body_rules: [{ mode: 'switch-route', when: [{ path: 'stop' }], use_model: 'first-node' }],
      },
      {
        name: 'to-late',
        upstream: 'strict',
        upstream_model_id: 'm',
        request_transform_after: script('body.late = 1; context.useModel("late-node"); return body'),
      },
      { name: 'late-node', upstream: 'late', upstream_model_id: 'down' },
      { name: 'off-node', upstream: 'off', upstream_model_id: 'm' },
      {
        name: 'to-off',
        upstream: 'strict',
        upstream_model_id: 'm',
        request_body_rules: [{ mode: 'switch-route', when: [{ path: 'stop' }], use_model: 'off-node' }],
      },
      {
        name: 'to-nobody',
        upstream: 'strict',
        upstream_model_id: 'm',
        request_transform_after: script('context.useModel("off-pool"); return body'),
      },
      {
        name: 'to-pool',
        upstream: 'strict',
        upstream_model_id: 'm',
        request_body_rules: [
          { mode: 'overwrite', path: 'of_the_first_route', value: 1 },
          { mode: 'switch-route', when: [{ path: 'stop' }], use_model: 'pool' },
        ],
      },
      {
        name: 'at-home',
        upstream: 'chat',
        upstream_model_id: 'm',
        aliases: ['home'],
        request_transform_before: script('context.useModel("home"); return body'),
      },
    ],
    loadBalancers: [
      { name: 'pool', strategy: 'priority', entries: [{ model: 'first-node' }, { model: 'second-node' }, { model: 'third-node' }] },
      { name: 'switching', strategy: 'priority', entries: [{ model: 'to-first' }, { model: 'to-late' }, { model: 'third-node' }] },
      { name: 'off-pool', strategy: 'priority', entries: [{ model: 'off-node' }] },
      { name: 'switching-to-none', strategy: 'priority', entries: [{ model: 'to-off' }, { model: 'to-nobody' }, { model: 'third-node' }] },
      { name: 'switching-to-off', strategy: 'priority', entries: [{ model: 'to-off' }, { model: 'to-nobody' }] },
      { name: 'switching-in-vain', strategy: 'priority', entries: [{ model: 'to-first' }, { model: 'second-node' }] },
    ],
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.sent.length = 0;
});

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<{ status: number; json: Body; row: Body }> {
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const row = await gateway.row(answer.headers.get('x-request-id') ?? '');
  return { status: answer.status, json: await answer.json(), row };
}
const words = [{ role: 'user', content: 'hello' }];
const sent = (at: number): Body => JSON.parse(outbound.sent[at]?.body ?? 'null');

const signature = 'RXFRQkNrWUlBUmdDS2tEeA==';
const message = (content: unknown[]): Body => ({
  id: 'msg',
  type: 'message',
  role: 'assistant',
  model: 'x',
  content,
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
});

describe('another model after the translation', () => {
  const ask = (content: unknown[], go = '') =>
    post(
      '/v1/messages',
      { model: 'origin', max_tokens: 4000, messages: [words[0], { role: 'assistant', content }, { role: 'user', content: 'go on' }] },
      go ? { 'x-go': go } : {},
    );
  test('gets no signature that was opened for the account of the first', async () => {
    outbound.answer = () =>
      jsonScript(
        200,
        message([
          { type: 'thinking', thinking: 'hm', signature: signature },
          { type: 'text', text: 'so' },
        ]),
      );
    const first = await post('/v1/messages', { model: 'origin', max_tokens: 4000, messages: words });
    const { content } = first.json;
    expect(content[0].signature).not.toContain(signature);
    const stays = await ask(content);
    expect([stays.status, sent(1).messages[1].content[0].signature]).toEqual([200, signature]);
    const goes = await ask(content, 'target');
    expect([goes.status, goes.row.routes, goes.row.upstream, goes.row.pipeline[0]]).toEqual([200, ['origin', 'target'], 'two', 'script-after']);
    expect(outbound.sent[2]?.url).toContain('two.test');
    expect(outbound.sent[2]?.body).not.toContain(signature);
    expect(sent(2).messages[1].content).toEqual([{ type: 'text', text: 'so' }]);
    expect(goes.row.losses.map(({ field }: Body) => field)).toContain('thinking.signature');
  });

  test('by an alias, and where an alias means that it stays', async () => {
    outbound.answer = () => jsonScript(200, message([{ type: 'text', text: 'so' }]));
    expect((await ask([{ type: 'text', text: 'x' }], 'target-alias')).row.routes).toEqual(['origin', 'target']);
    const stays = await ask([{ type: 'text', text: 'x' }], 'here');
    expect([stays.status, stays.row.routes]).toEqual([200, []]);
  });
});

test('who is sent to an alias of where he is stays there', async () => {
  outbound.answer = () => jsonScript(200, { id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] });
  expect((await post('/v1/chat/completions', { model: 'at-home', messages: words })).status).toBe(200);
});

test('a script after the translation runs once for all keys of its route', async () => {
  outbound.answer = ({ headers }: Asked) =>
    headers['authorization']?.includes('sk-c')
      ? jsonScript(401, { error: { message: 'no' } })
      : jsonScript(200, { id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] });
  // Whichever key a caller has: the refused one is among those that are tried.
  for (let turn = 0; turn < 4; turn++) {
    outbound.sent.length = 0;
    const { status } = await post('/v1/chat/completions', { model: 'rotates', messages: words });
    expect(status).toBe(200);
    const users = outbound.sent.map(({ body }) => JSON.parse(body).user);
    expect(users[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(users).size).toBe(1);
  }
});

test('sent on to a load balancer: each of its nodes begins with the caller’s own body', async () => {
  outbound.answer = ({ body }: Asked) =>
    JSON.parse(body).model === 'down' ? jsonScript(500, { error: { message: 'down' } }) : jsonScript(200, message([{ type: 'text', text: 'so' }]));
  const { status, json, row } = await post('/v1/chat/completions', { model: 'to-pool', messages: words, stop: ['X'] });
  expect([status, json.model, json.choices[0].message.content]).toEqual([200, 'to-pool', 'so']);
  const bodies = outbound.sent.map(({ body }) => JSON.parse(body));
  expect(bodies.map(({ stop, stop_sequences, user, seed }) => [stop ?? stop_sequences, user, seed])).toEqual([
    [['X', 'FIRST'], 'first', undefined],
    [['X', 'SECOND'], undefined, 2],
    [['X', 'THIRD'], undefined, undefined],
  ]);
  expect(JSON.stringify(bodies)).not.toContain('of_the_first_route');
  expect(row).toMatchObject({ routes: ['to-pool', 'third-node'], pipeline: ['switch-route', 'translate', 'body-rules'], model: 'to-pool', upstream: 'two' });
});

describe('sent on by a node of a load balancer, and failed there', () => {
  const ask = (model: string) => post('/v1/chat/completions', { model, messages: words, stop: ['X'] });
  beforeEach(() => {
    outbound.answer = ({ body }: Asked) =>
      JSON.parse(body).model === 'down' ? jsonScript(500, { error: { message: 'down' } }) : jsonScript(200, message([{ type: 'text', text: 'so' }]));
  });

  test('the other nodes are asked, with the caller’s own body', async () => {
    const { status, json, row } = await ask('switching');
    expect([status, json.model]).toEqual([200, 'switching']);
    const bodies = outbound.sent.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ stop, stop_sequences, user, late }) => [stop ?? stop_sequences, user, late])).toEqual([
      [['X', 'FIRST'], 'first', undefined],
      [['X'], undefined, 1],
      [['X', 'THIRD'], undefined, undefined],
    ]);
    expect(row).toMatchObject({ model: 'third-node', upstream: 'two', routes: [], pipeline: ['translate', 'body-rules'], error_code: null });
    expect(row.attempts.map(({ upstream }: Body) => upstream)).toEqual(['chat', 'late', 'two']);
  });

  test('they are asked also where the request is sent to what cannot be asked', async () => {
    const { status, row } = await ask('switching-to-none');
    expect([status, row.model, row.routes, row.error_code]).toEqual([200, 'third-node', [], null]);
    expect(row.attempts.map(({ upstream }: Body) => upstream)).toEqual(['two']);
    expect((await ask('switching-to-off')).row).toMatchObject({ status: 503, error_code: 'no_upstream', attempts: [] });
    // Without a load balancer, the error is that of where the request was sent.
    expect((await ask('to-off')).row).toMatchObject({ status: 503, error_code: 'upstream_disabled', attempts: [] });
  });

  test('when these fail too it is the load balancer that failed', async () => {
    expect((await ask('switching-in-vain')).row).toMatchObject({ status: 503, error_code: 'no_upstream' });
    // Without one, the error is that of where the request was sent.
    expect((await ask('to-first')).row).toMatchObject({ status: 502, error_code: 'upstream_failed', routes: ['to-first', 'first-node'] });
  });
});

describe('a whole reply from an upstream that streams', () => {
  const stream = [
    { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: 'hel' } }] },
    { id: 'c', choices: [{ index: 0, delta: { content: 'lo' }, finish_reason: 'stop' }], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
  ]
    .map((chunk) => `data: ${JSON.stringify({ object: 'chat.completion.chunk', model: 'm', ...chunk })}\n\n`)
    .join('');
  beforeEach(() => {
    outbound.answer = () => streamScript(`${stream}data: [DONE]\n\n`);
  });
  const ask = (model: string) => post('/v1/messages', { model, max_tokens: 100, messages: words });

  test('goes through the script in the upstream’s own shape', async () => {
    const { status, json, row } = await ask('folded');
    expect([status, json.type, json.content]).toEqual([200, 'message', [{ type: 'text', text: 'hello!' }]]);
    expect(row).toMatchObject({ pipeline: ['translate', 'script-response'], input_tokens: 3, output_tokens: 2 });
  });

  test('and is refused where the script fails, or makes nothing of it', async () => {
    expect((await ask('folded-fails')).row).toMatchObject({ status: 502, error_code: 'script_rejected', output_tokens: 2 });
    expect((await ask('folded-breaks')).row).toMatchObject({ status: 502 });
  });

  test('of a protocol without whole replies in the caller’s shape', async () => {
    const chunks = [
      encodeMessage('event', 'assistantResponseEvent', '{"content":"hello"}'),
      encodeMessage('event', 'contextUsageEvent', '{"contextUsagePercentage":2.5}'),
    ];
    outbound.answer = () => ({ contentType: 'application/vnd.amazon.eventstream', chunks, ending: 'end' });
    const { status, json } = await ask('ide');
    expect([status, json.seen]).toEqual([200, 'cloudhost_ide_streaming']);
  });
});

describe('token counts', () => {
  const count = (model: string) => post('/v1/messages/count_tokens', { model, messages: words });
  test('see the script before the translation, and go where it sends the request', async () => {
    outbound.answer = () => jsonScript(200, { input_tokens: 4711 });
    expect((await count('counted-here')).json).toEqual({ input_tokens: 4711 });
    expect(sent(0)).toMatchObject({ model: 'm', system: 'From the script.' });
    const elsewhere = await count('counted-elsewhere');
    expect([elsewhere.json, elsewhere.row.routes, sent(1).model]).toEqual([{ input_tokens: 4711 }, ['counted-elsewhere', 'target'], 'claude-sonnet-4-5']);
  });

  test('here count what the script made', async () => {
    const plain = (await count('folded')).json.input_tokens;
    expect((await count('counted')).json.input_tokens).toBeGreaterThan(plain);
  });

  test('know no script after the translation, and are refused as the request would be', async () => {
    outbound.answer = () => jsonScript(200, { input_tokens: 4711 });
    const after = await count('counted-after');
    expect([after.json, sent(0).temperature, after.row.routes]).toEqual([{ input_tokens: 4711 }, undefined, []]);
    expect((await count('counted-fails')).row).toMatchObject({ status: 502, error_code: 'script_rejected' });
  });
});
