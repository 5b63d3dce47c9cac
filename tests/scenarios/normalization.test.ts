/** What a model would refuse is changed and declared, on the verbatim passage too; everything else keeps every byte. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound } from '../support/scripted-outbound.ts';
import { send } from '../support/send.ts';

const outbound = createScriptedOutbound();
const ids: Record<string, [protocol: 'alpha' | 'alpha_response' | 'beta' | 'gamma', id: string]> = {
  'opus-4-7': ['beta', 'claude-opus-4-7'],
  'opus-4-5': ['beta', 'claude-opus-4-5'],
  haiku3: ['beta', 'claude-3-haiku-20240307'],
  compatible: ['beta', 'house-server-7b'],
  o3: ['alpha', 'o3-2025-04-16'],
  'gpt-5.1': ['alpha', 'gpt-5.1'],
  'gpt-4o': ['alpha', 'gpt-4o'],
  'open-model': ['alpha', 'llama-server'],
  'gpt-5-r': ['alpha_response', 'gpt-5'],
  'gpt-5.1-r': ['alpha_response', 'gpt-5.1-2025-11-13'],
  'gpt-5.4-r': ['alpha_response', 'gpt-5.4'],
  'gpt-5.6': ['alpha', 'gpt-5.6'],
  'gpt-6-r': ['alpha_response', 'gpt-6-astra'],
  'house-r': ['alpha_response', 'house-model'],
  'flash-2.5': ['gamma', 'gemini-2.5-flash'],
  'flash-2.0': ['gamma', 'gemini-2.0-flash'],
  'flash-3.8': ['gamma', 'gemini-3.8-flash'],
  argon: ['gamma', 'gemini-4-argon'],
};

let gateway: InProcessGateway;
beforeAll(async () => {
  gateway = await startInProcess({
    outbound,
    upstreams: (['alpha', 'alpha_response', 'beta', 'gamma'] as const).map((protocol) => ({
      name: protocol,
      protocol,
      base_url: 'https://up.test',
      api_keys: [{ key: 'sk-one' }],
    })),
    models: Object.entries(ids).map(([name, [upstream, upstream_model_id]]) => ({ name, upstream, upstream_model_id })),
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.script = { status: 400, contentType: 'application/json', chunks: [Buffer.from('{}')], ending: 'end' };
  outbound.sent.length = 0;
});

const hi = [{ role: 'user', content: 'hi' }];
const paths: Record<string, (model: string) => string> = {
  alpha: () => '/v1/chat/completions',
  alpha_response: () => '/v1/responses',
  beta: () => '/v1/messages',
  gamma: (model) => `/v1beta/models/${model}:generateContent`,
};
const bodies: Record<string, (model: string) => object> = {
  alpha: (model) => ({ model, messages: hi }),
  alpha_response: (model) => ({ model, input: 'hi' }),
  beta: (model) => ({ model, messages: hi, max_tokens: 2000 }),
  gamma: () => ({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }),
};

/** Sends a request in the model's own protocol (or `client`) and gives the body the upstream heard, without what is always there. */
async function received(model: string, extra: object, client = ids[model]![0] as string): Promise<Record<string, unknown>> {
  const answer = await send(gateway.url, paths[client]!(model), {
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...bodies[client]!(model), ...extra }),
  });
  const sent = outbound.sent.at(-1);
  if (!sent) throw new Error(`nothing was sent: ${answer.text}`);
  const { model: _model, messages: _messages, contents: _contents, input: _input, ...rest } = JSON.parse(sent.body) as Record<string, unknown>;
  return rest;
}

describe('the same protocol on both sides', () => {
  test.each<[string, string, object, object]>([
    ['newest models take no sampling', 'opus-4-7', { temperature: 0.2, top_p: 0.9, top_k: 5 }, { max_tokens: 2000 }],
    [
      'and a budget becomes adaptive thinking',
      'opus-4-7',
      { thinking: { type: 'enabled', budget_tokens: 1500 } },
      { max_tokens: 2000, thinking: { type: 'adaptive' } },
    ],
    ['temperature and top_p not both', 'opus-4-5', { temperature: 0.2, top_p: 0.9 }, { max_tokens: 2000, temperature: 0.2 }],
    ['temperature at most 1', 'opus-4-5', { temperature: 1.7 }, { max_tokens: 2000, temperature: 1 }],
    ['adaptive becomes a budget', 'opus-4-5', { thinking: { type: 'adaptive' } }, { max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1600 } }],
    [
      'a budget stays under max_tokens, and thinking forces the temperature',
      'opus-4-5',
      { temperature: 0, thinking: { type: 'enabled', budget_tokens: 9000 } },
      { max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1999 } },
    ],
    ['an effort beyond the model', 'opus-4-5', { output_config: { effort: 'max' } }, { max_tokens: 2000, output_config: { effort: 'high' } }],
    ['more output than the model writes', 'haiku3', { max_tokens: 32_000 }, { max_tokens: 4096 }],
    ['thinking of a model that does not', 'haiku3', { thinking: { type: 'enabled', budget_tokens: 1024 } }, { max_tokens: 2000 }],
    [
      'an unknown server is left alone',
      'compatible',
      { temperature: 1.7, top_p: 0.2, top_k: 1, vendor: { x: 1 } },
      { max_tokens: 2000, temperature: 1.7, top_p: 0.2, top_k: 1, vendor: { x: 1 } },
    ],
    [
      'o-series: the limit has another name and sampling goes',
      'o3',
      { max_tokens: 500, temperature: 0.3, presence_penalty: 1 },
      { max_completion_tokens: 500 },
    ],
    ['a probe of one token', 'o3', { max_completion_tokens: 1 }, { max_completion_tokens: 16 }],
    ['sampling is free without reasoning', 'gpt-5.1', { temperature: 0.3, reasoning_effort: 'none' }, { temperature: 0.3, reasoning_effort: 'none' }],
    ['sampling is free where the model reasons only when asked to', 'gpt-5.1', { temperature: 0.3, top_p: 0.4 }, { temperature: 0.3, top_p: 0.4 }],
    ['but not with an effort', 'gpt-5.1', { temperature: 0.3, reasoning_effort: 'low' }, { reasoning_effort: 'low' }],
    ['Responses: the same', 'gpt-5.1-r', { temperature: 0.3 }, { temperature: 0.3 }],
    ['an effort beyond the model', 'gpt-5.1', { reasoning_effort: 'xhigh' }, { reasoning_effort: 'high' }],
    ['more stop sequences than the endpoint takes', 'gpt-4o', { stop: ['a', 'b', 'c', 'd', 'e'] }, { stop: ['a', 'b', 'c', 'd'] }],
    ['stop sequences of a model that takes none', 'gpt-5.1', { stop: 'END' }, {}],
    ['stop sequences elsewhere', 'open-model', { stop: ['a', 'b', 'c', 'd', 'e'] }, { stop: ['a', 'b', 'c', 'd', 'e'] }],
    ['an effort for a model that does not reason', 'gpt-4o', { reasoning_effort: 'low', max_tokens: 9 }, { max_tokens: 9 }],
    [
      'vendor extras stay',
      'open-model',
      { top_k: 4, chat_template_kwargs: { a: 1 }, max_tokens: 1 },
      { top_k: 4, chat_template_kwargs: { a: 1 }, max_tokens: 1 },
    ],
    [
      'Responses: an effort beyond the model',
      'gpt-5-r',
      { reasoning: { effort: 'xhigh', summary: 'auto' } },
      { reasoning: { effort: 'high', summary: 'auto' } },
    ],
    ['Responses: no effort where there is always some', 'gpt-5-r', { reasoning: { effort: 'none' } }, { reasoning: { effort: 'minimal' } }],
    ['Responses: less effort than the model knows', 'gpt-5.1-r', { reasoning: { effort: 'minimal' } }, { reasoning: { effort: 'low' } }],
    ['Responses: what a newer model takes', 'gpt-5.4-r', { reasoning: { effort: 'none' } }, { reasoning: { effort: 'none' } }],
    ['Responses: the highest effort of a model that takes it', 'gpt-6-r', { reasoning: { effort: 'max' } }, { reasoning: { effort: 'max' } }],
    ['Responses: no effort where there is always some, by a later model', 'gpt-6-r', { reasoning: { effort: 'none' } }, { reasoning: { effort: 'low' } }],
    ['the highest effort of a model that takes it', 'gpt-5.6', { reasoning_effort: 'max' }, { reasoning_effort: 'max' }],
    ['the effort below it', 'gpt-5.6', { reasoning_effort: 'xhigh' }, { reasoning_effort: 'xhigh' }],
    ['Responses: efforts of a model that nobody knows', 'house-r', { reasoning: { effort: 'max' } }, { reasoning: { effort: 'max' } }],
    ['Responses takes no less than 16', 'gpt-5-r', { max_output_tokens: 1, temperature: 0 }, { max_output_tokens: 16 }],
    [
      'a level on a model of budgets',
      'flash-2.5',
      { generationConfig: { thinkingConfig: { thinkingLevel: 'high' } } },
      { generationConfig: { thinkingConfig: { thinkingBudget: 24_576 } } },
    ],
    [
      'the highest level, as the budget that this model takes',
      'flash-2.5',
      { generationConfig: { thinkingConfig: { thinkingLevel: 'XHIGH' } } },
      { generationConfig: { thinkingConfig: { thinkingBudget: 24_576 } } },
    ],
    [
      'a level below the least of this model',
      'flash-3.8',
      { generationConfig: { thinkingConfig: { thinkingLevel: 'MINIMAL' } } },
      { generationConfig: { thinkingConfig: { thinkingLevel: 'LOW' } } },
    ],
    [
      'a level above those known of this model',
      'argon',
      { generationConfig: { thinkingConfig: { thinkingLevel: 'XHIGH' } } },
      { generationConfig: { thinkingConfig: { thinkingLevel: 'XHIGH' } } },
    ],
    [
      'a budget and penalties of a model that takes neither',
      'argon',
      { generationConfig: { thinkingConfig: { thinkingBudget: 8000 }, presencePenalty: 0.5, temperature: 0.5 } },
      { generationConfig: { thinkingConfig: { thinkingLevel: 'MEDIUM' }, temperature: 0.5 } },
    ],
    [
      'no budget, where there is always some thinking',
      'argon',
      { generation_config: { thinking_config: { thinking_budget: 0 }, frequency_penalty: 0 } },
      { generation_config: { thinking_config: { thinkingLevel: 'LOW' } } },
    ],
    [
      'a budget that is left to the model',
      'argon',
      { generationConfig: { thinkingConfig: { thinkingBudget: -1, includeThoughts: true } } },
      { generationConfig: { thinkingConfig: { includeThoughts: true } } },
    ],
    [
      'thinking of a model that does not',
      'flash-2.0',
      { generation_config: { thinking_config: { thinking_budget: 5 }, max_output_tokens: 99_999 } },
      { generation_config: { max_output_tokens: 8192 } },
    ],
  ])('%s (%s)', async (_why, model, extra, expected) => expect(await received(model, extra)).toEqual(expected));

  test('a request that the model takes keeps every byte but the name', async () => {
    const text = `{ "model":"opus-4-5" , "max_tokens" : 2000,"temperature":0.50, "messages":[{"role":"user","content":"hi \\u00e9"}]  }`;
    await send(gateway.url, '/v1/messages', { headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' }, body: text });
    expect(outbound.sent[0]?.body).toBe(text.replace('opus-4-5', 'claude-opus-4-5'));
  });

  test('sampling at its default is not sent to a model that takes none, whoever asks, and nothing is lost', async () => {
    const sampling = ['temperature', 'top_p'];
    for (const [extra, client] of [
      [{ temperature: 1, top_p: 1 }, 'beta'],
      [{ temperature: 1, top_p: 1 }, 'alpha'],
      [{ generationConfig: { temperature: 1, topP: 1 } }, 'gamma'],
    ] as const) {
      outbound.sent.length = 0;
      expect(Object.keys(await received('opus-4-7', extra, client)).filter((key) => sampling.includes(key))).toEqual([]);
    }
  });

  test('a top_p of 1 beside a temperature goes, and nothing was lost', async () => {
    await send(gateway.url, '/v1/messages', {
      headers: { 'x-api-key': gateway.key, 'content-type': 'application/json', 'z-request-id': 'default' },
      body: JSON.stringify({ ...bodies['beta']!('opus-4-5'), temperature: 0.2, top_p: 1 }),
    });
    expect(JSON.parse(outbound.sent.at(-1)!.body)).not.toHaveProperty('top_p');
    expect((await gateway.row('default')).losses).toEqual([]);
  });

  test('what was changed stands in the row', async () => {
    const answer = await send(gateway.url, '/v1/messages', {
      headers: { 'x-api-key': gateway.key, 'content-type': 'application/json', 'z-request-id': 'declared' },
      body: JSON.stringify({ ...bodies['beta']!('opus-4-7'), temperature: 0 }),
    });
    expect(answer.status).toBe(400);
    expect((await gateway.row('declared')).losses).toEqual([{ field: 'temperature', action: 'dropped', detail: 'this model takes no sampling parameters' }]);
  });
});

describe('field notes, section 1, across protocols', () => {
  test('24: a model check with one token is raised to what the endpoint takes', async () => {
    expect(await received('gpt-5-r', { max_tokens: 1 }, 'beta')).toMatchObject({ max_output_tokens: 16 });
    expect(await received('o3', { max_tokens: 1 }, 'beta')).toMatchObject({ max_completion_tokens: 16 });
  });

  test('the strongest effort and none at all become words that the model takes', async () => {
    const strongest = { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } };
    expect(await received('gpt-5-r', strongest, 'beta')).toMatchObject({ reasoning: { effort: 'high' } });
    expect(await received('gpt-5.4-r', strongest, 'beta')).toMatchObject({ reasoning: { effort: 'xhigh' } });
    const off = { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } };
    expect(await received('gpt-5-r', off, 'gamma')).toMatchObject({ reasoning: { effort: 'minimal' } });
    expect(await received('gpt-5.1-r', off, 'gamma')).toMatchObject({ reasoning: { effort: 'none' } });
    expect(await received('house-r', off, 'gamma')).not.toHaveProperty('reasoning');
  });

  test('22: a caller who names no limit gets the output cap of the family, and one beyond it is limited', async () => {
    expect(await received('haiku3', {}, 'alpha')).toMatchObject({ max_tokens: 4096 });
    expect(await received('haiku3', { max_tokens: 50_000 }, 'alpha')).toMatchObject({ max_tokens: 4096 });
    expect(await received('opus-4-5', {}, 'alpha')).toMatchObject({ max_tokens: 32_000 });
  });
});
