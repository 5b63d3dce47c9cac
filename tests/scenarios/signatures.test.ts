/** Signatures of earlier thinking through the whole data plane: wrapped on the way out, opened for their issuer alone, and one retry when an upstream refuses them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { envelopePrefix, ownerTag, sealSignature } from '@model-gateway/signature-envelope';
import { sealLegacy } from '../../packages/signature-envelope/test/legacy-writer.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound, type Script } from '../support/scripted-outbound.ts';

// biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
type Body = any;

const issued = 'EqQBCkYIARgCKkDx+/=real-proof';
const json = (status: number, body: unknown): Script => ({
  status,
  contentType: 'application/json',
  chunks: [Buffer.from(JSON.stringify(body))],
  ending: 'end',
});
const thought = { type: 'thinking', thinking: 'hm', signature: issued };
const use = { type: 'tool_use', id: 'toolu_up', name: 'f', input: {} };
const betaReply = (content: unknown[]): Script =>
  json(200, { id: 'msg', type: 'message', role: 'assistant', model: 'x', content, stop_reason: 'tool_use', usage: { input_tokens: 1, output_tokens: 1 } });
const betaRefusal = (message: string): Script => json(400, { type: 'error', error: { type: 'invalid_request_error', message } });
const invalidSignature = 'messages.1.content.0: Invalid `signature` in `thinking` block';

const outbound = createScriptedOutbound();
/** Answers in turn; the last one stays. */
let answers: Script[] = [];
const plainSend = outbound.send;
outbound.send = (request, handlers) => {
  outbound.script = answers.length > 1 ? (answers.shift() as Script) : (answers[0] as Script);
  return plainSend(request, handlers);
};

let gateway: InProcessGateway;
beforeAll(async () => {
  gateway = await startInProcess({
    outbound,
    upstreams: [
      { name: 'one', protocol: 'beta', base_url: 'https://one.test', api_keys: [{ key: 'sk-one', account: 'acme' }] },
      { name: 'two', protocol: 'beta', base_url: 'https://two.test', api_keys: [{ key: 'sk-two', account: 'acme' }] },
      {
        name: 'three',
        protocol: 'beta',
        base_url: 'https://three.test',
        api_keys: ['a', 'b', 'c'].map((account) => ({ key: `sk-${account}`, account })),
      },
      { name: 'gam', protocol: 'gamma', base_url: 'https://gam.test', api_keys: [{ key: 'sk-gam' }] },
      { name: 'host', protocol: 'cloudhost_converse', base_url: 'https://host.test', api_keys: [{ key: 'bearer-key', account: 'acme' }] },
      { name: 'res', protocol: 'alpha_response', base_url: 'https://res.test', api_keys: [{ key: 'sk-res' }] },
    ],
    loadBalancers: [{ name: 'both', entries: [{ model: 'm' }, { model: 'o' }] }],
    models: [
      { name: 'o', upstream: 'two', upstream_model_id: 'claude-sonnet-4-5' },
      { name: 'k', upstream: 'three', upstream_model_id: 'claude-sonnet-4-5' },
      { name: 'kept', upstream: 'three', upstream_model_id: 'claude-sonnet-4-5', signature_passthrough: true },
      { name: 'm', upstream: 'one', upstream_model_id: 'claude-sonnet-4-5' },
      { name: 'n', upstream: 'one', upstream_model_id: 'claude-sonnet-4-5' },
      { name: 'g', upstream: 'gam', upstream_model_id: 'house-model' },
      { name: 'g2', upstream: 'gam', upstream_model_id: 'other-house-model' },
      { name: 'r', upstream: 'res', upstream_model_id: 'gpt-5' },
      { name: 'hosted', upstream: 'host', upstream_model_id: 'us.anthropic.claude-sonnet-4-5-v1:0', signature_passthrough: true },
      { name: 'nova', upstream: 'host', upstream_model_id: 'us.amazon.nova-2-lite-v1:0', signature_passthrough: true },
    ],
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.sent.length = 0;
});

async function post(path: string, body: unknown): Promise<{ status: number; body: Body; id: string }> {
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: reply.status, body: (await reply.json()) as Body, id: reply.headers.get('x-request-id') ?? '' };
}
const sentBody = (at: number): Body => JSON.parse(outbound.sent[at]?.body ?? 'null') as Body;
const ask = (model: string, messages: unknown[], more: object = {}) => post('/v1/messages', { model, max_tokens: 4096, messages, ...more });
const user = { role: 'user', content: 'hi' };
const followUp = (content: unknown[]) => [
  user,
  { role: 'assistant', content },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: (content.at(-1) as { id: string }).id, content: 'ok' }] },
];
let thoughts = 0;
/** One turn that thinks and calls, as the caller gets it. */
async function firstTurn(model: string): Promise<Body[]> {
  // No two replies hold the same signature: what was refused once is remembered by its text.
  thought.signature = `${issued}${++thoughts}`;
  answers = [betaReply([thought, use])];
  const { body } = await ask(model, [user], { thinking: { type: 'enabled', budget_tokens: 2048 } });
  outbound.sent.length = 0;
  return body['content'] as Body[];
}

describe('field note 11: a signature goes back to its issuer alone', () => {
  test('wrapped on verbatim passage, opened for the same model, upstream and account', async () => {
    const content = await firstTurn('m');
    expect(content[0].signature.startsWith(envelopePrefix)).toBe(true);
    expect(content[0].signature).not.toContain(issued);
    await ask('m', followUp(content));
    expect(sentBody(0)['messages'][1].content[0]).toEqual(thought);
  });

  test('a body that only the upstream can read loses no reply that holds a signature', async () => {
    answers = [betaReply([thought, use])];
    const bodies = [
      // A raw control character in a text, and a role that cannot be made a text.
      JSON.stringify({ model: 'm', max_tokens: 4096, messages: [{ role: 'user', content: 'a?b' }] }).replace('?', '\u0001'),
      JSON.stringify({ model: 'm', max_tokens: 4096, messages: [{ role: { toString: null }, content: 'hi' }] }),
    ];
    for (const body of bodies) {
      const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
      const reply = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers, body });
      expect({ body, status: reply.status }).toEqual({ body, status: 200 });
      const { content } = (await reply.json()) as Body;
      await ask('m', followUp(content));
      expect(JSON.parse(outbound.sent.at(-1)?.body ?? 'null').messages[1].content[0]).toEqual(thought);
    }
  });

  test('stripped when the model changes: the thinking goes with it, the tool history stays', async () => {
    const content = await firstTurn('m');
    const { id } = await ask('n', followUp(content), { thinking: { type: 'enabled', budget_tokens: 2048 } });
    const sent = sentBody(0);
    expect(sent['messages'][1].content).toEqual([content[1]]);
    expect(sent['thinking']).toBeUndefined();
    expect((await gateway.row(id)).losses.map(({ field }) => field)).toEqual(expect.arrayContaining(['thinking.signature', 'thinking']));
  });

  test("a vendor's raw signature that was never sealed here is not forwarded", async () => {
    answers = [betaReply([{ type: 'text', text: 'ok' }])];
    await ask('m', followUp([thought, { ...use, id: 'toolu_own' }]));
    expect(outbound.sent[0]?.body).not.toContain(issued);
    expect(sentBody(0)['messages'][1].content).toEqual([{ ...use, id: 'toolu_own' }]);
  });

  test('an envelope of the first generation works while the model is the same', async () => {
    const old = sealLegacy('m', issued, gateway.envelopeKey);
    const content = [
      { ...thought, signature: old },
      { ...use, id: 'toolu_old' },
    ];
    answers = [betaReply([{ type: 'text', text: 'ok' }])];
    await ask('m', followUp(content));
    await ask('n', followUp(content));
    expect(sentBody(0)['messages'][1].content[0]).toEqual({ ...thought, signature: issued });
    expect(outbound.sent[1]?.body).not.toContain(issued);
  });
});

describe('field note 30: who issued a signature is asked first', () => {
  const sealedBy = (account: string, model = 'k') =>
    sealSignature({ signature: issued, model, upstream: 'three', account, protocol: 'beta', owner: ownerTag('id-three', account, model) }, gateway.envelopeKey);
  const continued = (account: string, model = 'k') =>
    followUp([
      { ...thought, signature: sealedBy(account, model) },
      { ...use, id: 'toolu_k' },
    ]);
  const keyOf = (at: number) => outbound.sent[at]?.headers['x-api-key'];

  test('among the keys of one upstream, whichever the caller is bound to', async () => {
    answers = [betaReply([{ type: 'text', text: 'ok' }])];
    await ask('k', [user]);
    const bound = keyOf(0);
    for (const account of ['a', 'b', 'c']) {
      outbound.sent.length = 0;
      await ask('k', continued(account));
      expect(keyOf(0)).toBe(`sk-${account}`);
      expect(sentBody(0)['messages'][1].content[0]).toEqual({ ...thought, signature: issued });
      await ask('k', [user]);
      expect(keyOf(1)).toBe(bound);
    }
  });

  test('a signature of no account here is stripped, and chooses nothing', async () => {
    answers = [betaReply([{ type: 'text', text: 'ok' }])];
    await ask('k', [user]);
    await ask('k', continued('gone'));
    expect(keyOf(1)).toBe(keyOf(0));
    expect(outbound.sent[1]?.body).not.toContain(issued);
  });

  test('among the nodes of a balancer', async () => {
    answers = [betaReply([thought, use])];
    for (let turn = 0; turn < 3; turn++) {
      const { body } = await ask('both', [user]);
      const issuer = outbound.sent.at(-1)?.url;
      for (let again = 0; again < 2; again++) {
        await ask('both', followUp(body['content'] as Body[]));
        expect(outbound.sent.at(-1)?.url).toBe(issuer);
        expect(outbound.sent.at(-1)?.body).toContain(issued);
      }
    }
    expect(new Set(outbound.sent.map(({ url }) => url)).size).toBe(2);
  });

  test('signature_passthrough keeps a signature across accounts while the model is the same', async () => {
    answers = [betaReply([{ type: 'text', text: 'ok' }])];
    await ask('kept', continued('gone', 'kept'));
    await ask('kept', continued('gone', 'k'));
    expect(outbound.sent[0]?.body).toContain(issued);
    expect(outbound.sent[1]?.body).not.toContain(issued);
  });
});

describe('one vendor behind several upstream protocols: its signatures are the same', () => {
  const elsewhere = (model: string, signature: string) =>
    sealSignature({ signature, model, upstream: 'one', account: 'acme', protocol: 'beta' }, gateway.envelopeKey);
  const opaque = 'EtkECkgIBxABGAIqQA==';
  const hostReply = (content: unknown[]): Script =>
    json(200, { output: { message: { role: 'assistant', content } }, stopReason: 'tool_use', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } });
  const called = { toolUse: { toolUseId: 'tooluse_1', name: 'f', input: {} } };

  test('with signature_passthrough a model that moved to the host keeps its readable and its opaque thinking', async () => {
    answers = [hostReply([{ text: 'ok' }])];
    const content = [{ ...thought, signature: elsewhere('hosted', issued) }, { type: 'redacted_thinking', data: elsewhere('hosted', opaque) }, use];
    await ask('hosted', followUp(content));
    expect(sentBody(0)['messages'][1].content.slice(0, 2)).toEqual([
      { reasoningContent: { reasoningText: { text: 'hm', signature: issued } } },
      { reasoningContent: { redactedContent: Buffer.from(opaque).toString('base64') } },
    ]);
  });

  test('what the host gave goes back to it as it came', async () => {
    const given = [
      { reasoningContent: { reasoningText: { text: 'hm', signature: issued } } },
      { reasoningContent: { redactedContent: Buffer.from(opaque).toString('base64') } },
    ];
    answers = [hostReply([...given, called])];
    const { body } = await ask('hosted', [user]);
    const content = body['content'] as Body[];
    expect(content.slice(0, 2).every((block) => String(block.signature ?? block.data).startsWith(envelopePrefix))).toBe(true);
    await ask('hosted', followUp(content));
    expect(sentBody(1)['messages'][1].content.slice(0, 2)).toEqual(given);
  });

  test('another vendor behind the same client gets none of it', async () => {
    answers = [hostReply([{ text: 'ok' }])];
    await ask('nova', followUp([{ ...thought, signature: elsewhere('nova', issued) }, use]));
    expect(outbound.sent[0]?.body).not.toContain(issued);
  });
});

describe('field note 12: an upstream that refuses a signature is asked once more without it', () => {
  test('on the same node and key, and the row tells both attempts and why', async () => {
    const content = await firstTurn('m');
    answers = [betaRefusal(invalidSignature), betaReply([{ type: 'text', text: 'ok' }])];
    const { status, id } = await ask('m', followUp(content), { thinking: { type: 'enabled', budget_tokens: 2048 } });
    expect(status).toBe(200);
    expect(outbound.sent).toHaveLength(2);
    expect(sentBody(0)['messages'][1].content[0]).toEqual(thought);
    expect(sentBody(1)['messages'][1].content).toEqual([content[1]]);
    expect(sentBody(1)['thinking']).toBeUndefined();
    const row = await gateway.row(id);
    expect(row.attempts.map(({ status: code, upstream, key_index }) => [code, upstream, key_index])).toEqual([
      [400, 'one', 0],
      [200, 'one', 0],
    ]);
    expect(row.losses.find(({ field }) => field === 'signatures')?.detail).not.toContain('have changed');
  });

  test('what was refused is left out of the next request as well: it is not asked twice again', async () => {
    const content = await firstTurn('m');
    answers = [betaRefusal(invalidSignature), betaReply([{ type: 'text', text: 'ok' }])];
    expect((await ask('m', followUp(content))).status).toBe(200);
    outbound.sent.length = 0;
    expect((await ask('m', [...followUp(content), { role: 'assistant', content: 'ok' }, user])).status).toBe(200);
    expect(outbound.sent).toHaveLength(1);
    expect(sentBody(0)['messages'][1].content).toEqual([content[1]]);
    // A signature that was given since is sent.
    const later = await firstTurn('m');
    answers = [betaReply([{ type: 'text', text: 'ok' }])];
    await ask('m', followUp(later));
    expect(sentBody(0)['messages'][1].content[0]).toEqual(thought);
  });

  test('a refusal that leaving them out did not heal is forgotten', async () => {
    const content = await firstTurn('m');
    answers = [betaRefusal(invalidSignature)];
    expect((await ask('m', followUp(content))).status).toBe(400);
    answers = [betaReply([{ type: 'text', text: 'ok' }])];
    outbound.sent.length = 0;
    expect((await ask('m', followUp(content))).status).toBe(200);
    expect(sentBody(0)['messages'][1].content[0]).toEqual(thought);
  });

  test('a changed system text is named as the reason', async () => {
    const content = await firstTurn('m');
    answers = [betaRefusal(`${invalidSignature}. The block is bound to a different conversation.`), betaReply([{ type: 'text', text: 'ok' }])];
    const { id } = await ask('m', followUp(content), { system: 'another' });
    expect((await gateway.row(id)).losses.find(({ field }) => field === 'signatures')?.detail).toContain('have changed');
  });

  test('once, and not when there is nothing to leave out', async () => {
    const content = await firstTurn('m');
    answers = [betaRefusal(invalidSignature)];
    expect((await ask('m', followUp(content))).status).toBe(400);
    expect(outbound.sent).toHaveLength(2);
    outbound.sent.length = 0;
    expect((await ask('m', [user])).status).toBe(400);
    expect(outbound.sent).toHaveLength(1);
  });

  test('another 400 is not retried', async () => {
    const content = await firstTurn('m');
    answers = [betaRefusal('prompt is too long: 213462 tokens > 200000 maximum')];
    expect((await ask('m', followUp(content))).status).toBe(400);
    expect(outbound.sent).toHaveLength(1);
  });

  test('a generate-content upstream whose model nobody knows to want signatures gets the word that skips its check', async () => {
    answers = [
      json(400, { error: { code: 400, message: 'Function call is missing a thought_signature in functionCall parts.', status: 'INVALID_ARGUMENT' } }),
      json(200, { candidates: [{ content: { parts: [{ text: 'ok' }], role: 'model' }, finishReason: 'STOP' }] }),
    ];
    const { status } = await ask('g', followUp([use]));
    expect(status).toBe(200);
    expect(sentBody(1)['contents'][1].parts[0]).toMatchObject({ functionCall: { name: 'f' }, thoughtSignature: 'skip_thought_signature_validator' });
    outbound.sent.length = 0;
    answers = [
      json(400, { error: { code: 400, message: 'Function call is missing a thought_signature in functionCall parts.', status: 'INVALID_ARGUMENT' } }),
      json(200, { candidates: [{ content: { parts: [{ text: 'ok' }], role: 'model' }, finishReason: 'STOP' }] }),
    ];
    const contents = [
      { role: 'user', parts: [{ text: 'hi' }] },
      { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { result: 'ok' } } }] },
    ];
    expect((await post('/v1beta/models/g2:generateContent', { contents })).status).toBe(200);
    expect(sentBody(1)['contents'][1].parts[0].thoughtSignature).toBe('skip_thought_signature_validator');
    // Known from then on: no further request is refused for it.
    outbound.sent.length = 0;
    expect((await post('/v1beta/models/g2:generateContent', { contents })).status).toBe(200);
    expect(outbound.sent).toHaveLength(1);
    expect(sentBody(0)['contents'][1].parts[0].thoughtSignature).toBe('skip_thought_signature_validator');
  });

  test('a Responses upstream that cannot verify encrypted content', async () => {
    const item = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'gAAAAB' };
    const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'ok', annotations: [] }] };
    const whole = json(200, { id: 'resp', object: 'response', created_at: 1, status: 'completed', model: 'x', output: [item, message], usage: null });
    answers = [whole];
    const first = await post('/v1/responses', { model: 'r', input: 'hi', store: false });
    expect(first.body['output'][0].encrypted_content.startsWith(envelopePrefix)).toBe(true);
    outbound.sent.length = 0;
    answers = [
      json(400, {
        error: {
          message: 'The encrypted content gAAA...AB could not be verified.',
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_encrypted_content',
        },
      }),
      whole,
    ];
    const second = await post('/v1/responses', { model: 'r', store: false, input: [{ role: 'user', content: 'hi' }, ...first.body['output']] });
    expect(second.status).toBe(200);
    expect(sentBody(0)['input'][1].encrypted_content).toBe('gAAAAB');
    expect(sentBody(1)['input'].map((one: Body) => one.type ?? one.role)).toEqual(['user', 'message']);
  });
});
