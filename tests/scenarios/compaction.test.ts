/** `/v1/responses/compact`: passed to upstreams of the same protocol, with what they seal wrapped and opened again for them alone; a clear 400 elsewhere. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { envelopePrefix } from '@model-gateway/signature-envelope';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound, type Script } from '../support/scripted-outbound.ts';

// biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
type Json = any;

const outbound = createScriptedOutbound();
const answer = (body: unknown, status = 200): Script => ({
  status,
  contentType: 'application/json',
  chunks: [Buffer.from(JSON.stringify(body))],
  ending: 'end',
});
const user = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Build it.' }] };
const secret = 'gAAAAABo-opaque-history';
const usage = {
  input_tokens: 900,
  input_tokens_details: { cached_tokens: 100 },
  output_tokens: 50,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 950,
};
const compacted = {
  id: 'resp_1',
  object: 'response.compaction',
  created_at: 1,
  output: [user, { id: 'cmp_1', type: 'compaction', encrypted_content: secret }],
  usage,
};
const reply = {
  id: 'resp_2',
  object: 'response',
  status: 'completed',
  model: 'gpt-5',
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] }],
  usage,
};

let gateway: InProcessGateway;
beforeAll(async () => {
  gateway = await startInProcess({
    outbound,
    upstreams: [
      { name: 'one', protocol: 'alpha_response', base_url: 'https://one.test', api_keys: [{ key: 'sk-one' }] },
      { name: 'two', protocol: 'alpha_response', base_url: 'https://two.test/v1', api_keys: [{ key: 'sk-two' }] },
      { name: 'chat', protocol: 'alpha', base_url: 'https://chat.test', api_keys: [{ key: 'sk-chat' }] },
      { name: 'messages', protocol: 'beta', base_url: 'https://messages.test', api_keys: [{ key: 'sk-messages' }] },
    ],
    models: ['one', 'two', 'chat', 'messages'].map((upstream) => ({ name: `at-${upstream}`, upstream, upstream_model_id: 'gpt-5' })),
    loadBalancers: [{ name: 'mixed', strategy: 'priority', entries: [{ model: 'at-chat' }, { model: 'at-messages' }, { model: 'at-one' }] }],
    priceOf: () => null,
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.sent.length = 0;
});

async function post(path: string, body: object): Promise<{ status: number; body: Json; id: string }> {
  const got = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', originator: 'codex_exec' },
    body: JSON.stringify(body),
  });
  return { status: got.status, body: (await got.json()) as Json, id: got.headers.get('x-request-id') ?? '' };
}
const sent = (): Json => JSON.parse(outbound.sent.at(-1)?.body ?? 'null') as Json;
const compact = (model: string, input: unknown[] = [user]) =>
  post('/v1/responses/compact', { model, instructions: 'Be brief.', input, parallel_tool_calls: true });

async function compactedByOne(): Promise<Json> {
  outbound.script = answer(compacted);
  return (await compact('at-one')).body.output[1];
}

describe('upstreams of the same protocol', () => {
  test('the call passes, its cost is in the row, and what the vendor sealed is wrapped', async () => {
    outbound.script = answer(compacted);
    const { status, body, id } = await compact('at-two');
    expect([status, outbound.sent[0]?.url, outbound.sent[0]?.headers['originator']]).toEqual([200, 'https://two.test/v1/responses/compact', 'codex_exec']);
    expect(sent()).toEqual({ model: 'gpt-5', instructions: 'Be brief.', input: [user], parallel_tool_calls: true });
    expect(body).toEqual({ ...compacted, output: [user, { ...compacted.output[1], encrypted_content: expect.stringMatching(`^${envelopePrefix}`) }] });
    expect(await gateway.row(id)).toMatchObject({
      status: 200,
      model: 'at-two',
      stream: false,
      input_tokens: 800,
      cache_read_tokens: 100,
      output_tokens: 50,
      usage_source: 'upstream',
      losses: [],
    });
  });

  test('the next turn, and the next compaction, give the issuer its own bytes back', async () => {
    const item = await compactedByOne();
    outbound.script = answer(reply);
    expect((await post('/v1/responses', { model: 'at-one', input: [user, item, user] })).status).toBe(200);
    expect(sent().input[1]).toEqual(compacted.output[1]);
    outbound.script = answer(compacted);
    expect((await compact('at-one', [user, item, user])).status).toBe(200);
    expect(sent().input[1]).toEqual(compacted.output[1]);
  });

  test('another upstream gets a word in its place, as a declared loss', async () => {
    const item = await compactedByOne();
    outbound.script = answer(reply);
    const { id } = await post('/v1/responses', { model: 'at-two', input: [user, item, user] });
    expect(sent().input).toEqual([user, { type: 'message', role: 'assistant', content: expect.stringContaining('cannot be read here') }, user]);
    expect((await gateway.row(id)).losses.map(({ field }) => field)).toEqual(['input.1.encrypted_content']);
  });

  test('an upstream without such an endpoint says so itself', async () => {
    outbound.script = answer({ error: { message: 'Not Found', type: 'invalid_request_error' } }, 404);
    const { status, body } = await compact('at-one');
    expect([status, body.error.type]).toEqual([404, 'invalid_request_error']);
  });
});

describe.each(['at-chat', 'at-messages'])('an upstream of another protocol: %s', (model) => {
  test('a 400 that says what to do and where, and nothing is asked', async () => {
    const { status, body, id } = await compact(model);
    expect([status, body]).toEqual([
      400,
      { error: { message: expect.stringContaining('summary at /v1/responses'), type: 'invalid_request_error', param: 'model', code: 'unsupported_operation' } },
    ]);
    expect(outbound.sent).toEqual([]);
    expect(await gateway.row(id)).toMatchObject({ status: 400, error_code: 'unsupported_operation' });
  });

  test('nor can a turn ask for it, and a compaction of another vendor leaves a word', async () => {
    const refused = await post('/v1/responses', { model, input: [user, { type: 'compaction_trigger' }] });
    expect([refused.status, refused.body.error.param]).toEqual([400, 'input.1']);
    // The agent that asks for it so shows the text to its user, who can change its configuration and not its requests.
    expect(refused.body.error.message).toContain('model_provider');
    const item = await compactedByOne();
    outbound.script = answer({ error: { message: 'enough' } }, 400);
    await post('/v1/responses', { model, input: [user, item, user] });
    expect(JSON.stringify(sent())).toContain('cannot be read here');
    expect(JSON.stringify(sent())).not.toContain(item.encrypted_content);
  });
});

test('a load balancer passes over nodes that cannot compact', async () => {
  outbound.script = answer(compacted);
  expect((await compact('mixed')).status).toBe(200);
  expect(outbound.sent.map(({ url }) => url)).toEqual(['https://one.test/v1/responses/compact']);
});

test('the path takes POST alone', async () => {
  const got = await fetch(`${gateway.url}/v1/responses/compact`, { headers: { authorization: `Bearer ${gateway.key}` } });
  expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
});
