/** A turn goes back to the account that issued its thinking signature, too, where the store holds the history, and where a rule sends the request to a balancer. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { MemoryTurns } from '../support/memory-turns.ts';
import { createAnsweringOutbound, jsonScript } from '../support/scripted-upstream.ts';
import { send } from '../support/send.ts';

// biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
type Body = any;

const issued = 'EqQBCkYIARgCKkDx+/=real-proof';
const outbound = createAnsweringOutbound();
let gateway: InProcessGateway;
const accounts = ['one', 'two', 'three'];
beforeAll(async () => {
  gateway = await startInProcess({
    outbound,
    turns: new MemoryTurns(),
    upstreams: [
      ...accounts.map((name) => ({ name, protocol: 'beta' as const, base_url: `https://${name}.test`, api_keys: [{ key: `sk-${name}` }] })),
      { name: 'keys', protocol: 'beta', base_url: 'https://keys.test', api_keys: accounts.map((name) => ({ key: `sk-${name}` })) },
      { name: 'switching', protocol: 'beta', base_url: 'https://switching.test', api_keys: [{ key: 'sk-switching' }] },
    ],
    models: [
      ...[...accounts, 'keys'].map((name) => ({ name, upstream: name, upstream_model_id: 'claude-sonnet-4-5' })),
      {
        name: 'switched',
        upstream: 'switching',
        upstream_model_id: 'claude-sonnet-4-5',
        request_body_rules: [{ mode: 'switch-route', when: [{ path: 'model' }], use_model: 'balanced' }],
      },
    ],
    loadBalancers: [{ name: 'balanced', entries: accounts.map((model) => ({ model })) }],
  });
  const content = [
    { type: 'thinking', thinking: 'hm', signature: issued },
    { type: 'text', text: 'ok' },
  ];
  const reply = {
    ...{ id: 'msg', type: 'message', role: 'assistant', model: 'x', content },
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  outbound.answer = () => jsonScript(200, reply);
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.sent.length = 0;
});

const post = async (path: string, body: object): Promise<Body> => {
  const reply = await send(gateway.url, path, {
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(reply.status).toBe(200);
  return reply.json;
};
const asked = { reasoning: { effort: 'high' }, include: ['reasoning.encrypted_content'] };
const respond = (model: string, more: object) => post('/v1/responses', { model, input: 'hi', ...asked, ...more });
/** Where each request went, by its address and credential. */
const places = () => outbound.sent.map(({ url, headers }) => `${url} ${headers['x-api-key']}`);
const expectOnePlace = (turns: number): void => {
  expect(places()).toEqual(Array(turns).fill(places()[0]));
  for (const { body } of outbound.sent.slice(1)) expect(body).toContain(issued);
};

test.each(['balanced', 'keys'])('of a turn that the store holds: %s', async (model) => {
  let { id } = await respond(model, {});
  for (let turn = 1; turn < 5; turn++) ({ id } = await respond(model, { previous_response_id: id }));
  expectOnePlace(5);
});

test('of a conversation', async () => {
  const { id: conversation } = await post('/v1/conversations', {});
  for (let turn = 0; turn < 5; turn++) await respond('balanced', { conversation });
  expectOnePlace(5);
});

test.each([
  ['by references', (id: string) => ({ type: 'item_reference', id })],
  ['by ids alone', (id: string) => ({ id })],
])('of a history that its caller names item for item, %s', async (_how, named) => {
  const input: object[] = [{ role: 'user', content: 'hi' }];
  for (let turn = 0; turn < 5; turn++) {
    const { output } = await respond('balanced', { input });
    input.push(...output.map(({ id }: Body) => named(id)), { role: 'user', content: 'go on' });
  }
  expectOnePlace(5);
});

test('of a history that its caller sends, which a rule sends to a balancer', async () => {
  const thinking = { type: 'enabled', budget_tokens: 2048 };
  const messages: object[] = [{ role: 'user', content: 'hi' }];
  for (let turn = 0; turn < 5; turn++) {
    const { content } = await post('/v1/messages', { model: 'switched', max_tokens: 4096, thinking, messages });
    messages.push({ role: 'assistant', content }, { role: 'user', content: 'go on' });
  }
  expectOnePlace(5);
});

test('turns without a signature go round as before', async () => {
  for (let turn = 0; turn < 3; turn++) await respond('balanced', {});
  expect(new Set(places()).size).toBe(3);
});

test('a turn that goes to its issuer takes nobody’s place: beginnings go round all the same', async () => {
  const places: string[] = [];
  for (let beginning = 0; beginning < 6; beginning++) {
    outbound.sent.length = 0;
    const { id } = await respond('balanced', {});
    for (let turn = 0; turn < 2; turn++) await respond('balanced', { previous_response_id: id });
    expectOnePlace(3);
    places.push(outbound.sent[0]?.url ?? '');
  }
  for (const name of accounts) expect(places.filter((url) => url.includes(name))).toHaveLength(2);
});

test('a turn that nobody signed, or that is not there, goes round', async () => {
  for (const previous_response_id of ['resp_missing', 'resp_absent', 'resp_gone']) await respond('balanced', { previous_response_id });
  expect(new Set(places()).size).toBe(3);
});
