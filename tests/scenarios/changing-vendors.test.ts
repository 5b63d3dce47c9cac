/**
 * One task whose model changes from vendor to vendor and back, within one loop of tool calls, as a failover or an administrator's switch makes it. Each
 * vendor refuses what it really refuses; no request may be refused, not even once to be asked again.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ProtocolId } from '@model-gateway/contracts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createAnsweringOutbound, jsonScript } from '../support/scripted-upstream.ts';
import { accountOf, createMemory, findRefusals, renderFor } from '../vendor-rules/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies of four protocols are echoed as they are.
type Body = any;

interface Host {
  protocol: ProtocolId;
  modelId: string;
  /** The next step of the model, which thinks where it can and calls the tool. */
  reply(prove: () => string, step: number, body: Body): Body;
}

const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const args = (step: number) => ({ step });
const chatReply = (message: object): Body => ({
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'x', usage },
  choices: [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, ...message } }],
});
const chatCall = (step: number, id = `call_${step}`) => ({ id, type: 'function', function: { name: 'look', arguments: JSON.stringify(args(step)) } });
const thinking = (body: Body): boolean => body.thinking?.type === 'enabled' || (/v4|reasoner/.test(body.model) && body.thinking?.type !== 'disabled');

const hosts: Record<string, Host> = {
  claude: {
    protocol: 'beta',
    modelId: 'claude-sonnet-4-5',
    reply: (prove, step, body) => ({
      ...{ id: 'msg', type: 'message', role: 'assistant', model: 'x', stop_reason: 'tool_use', usage: { input_tokens: 9, output_tokens: 3 } },
      content: [
        ...(body.thinking?.type === 'enabled' ? [{ type: 'thinking', thinking: `think ${step}`, signature: prove() }] : []),
        { type: 'tool_use', id: `toolu_${step}`, name: 'look', input: args(step) },
      ],
    }),
  },
  gemini: {
    protocol: 'gamma',
    modelId: 'gemini-3-pro-preview',
    reply: (prove, step) => ({
      ...{ usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 }, modelVersion: 'x', responseId: 'r' },
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: `think ${step}`, thought: true },
              { functionCall: { name: 'look', args: args(step) }, thoughtSignature: prove() },
            ],
          },
          ...{ finishReason: 'STOP', index: 0 },
        },
      ],
    }),
  },
  gpt: {
    protocol: 'alpha_response',
    modelId: 'gpt-5.2',
    reply: (prove, step) => ({
      ...{ id: `resp_${step}`, object: 'response', created_at: 1, status: 'completed', model: 'x' },
      usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
      output: [
        { type: 'reasoning', id: `rs_${'0a'.repeat(24)}${step}`, summary: [{ type: 'summary_text', text: `think ${step}` }], encrypted_content: prove() },
        { type: 'function_call', id: `fc_${step}`, call_id: `call_${step}`, name: 'look', arguments: JSON.stringify(args(step)), status: 'completed' },
      ],
    }),
  },
  'gpt-chat': { protocol: 'alpha', modelId: 'gpt-5.2', reply: (_prove, step) => chatReply({ tool_calls: [chatCall(step)], refusal: null, annotations: [] }) },
  deepseek: {
    protocol: 'alpha',
    modelId: 'deepseek-v4-pro',
    reply: (_prove, step, body) => chatReply({ ...(thinking(body) && { reasoning_content: `think ${step}` }), content: '', tool_calls: [chatCall(step)] }),
  },
  mistral: { protocol: 'alpha', modelId: 'mistral-large-latest', reply: (_prove, step) => chatReply({ tool_calls: [chatCall(step, `abcdefgh${step % 10}`)] }) },
};
const names = Object.keys(hosts);

const outbound = createAnsweringOutbound();
const memory = createMemory();
/** What was refused, with where and when. */
let refusals: string[] = [];
let calls = 0;
/** Signatures that each host gave in this task, and how many of them stood in the last request that it got. */
const given = new Map<string, string[]>();
const returned = new Map<string, number>();
let step = 0;

function answer({ url, headers, body: text }: { url: string; headers: Record<string, string>; body: string }) {
  const { hostname, pathname, search } = new URL(url);
  const name = hostname.split('.')[0]!;
  const host = hosts[name]!;
  const body: Body = JSON.parse(text);
  const judged = { modelId: host.modelId, headers, body, path: pathname + search };
  calls++;
  const found = findRefusals(host.protocol, judged, memory);
  for (const { rule, message } of found) refusals.push(`step ${step} at ${name}: ${rule}: ${message.slice(0, 200)}`);
  if (found[0]) {
    const rendered = renderFor(host.protocol, judged, found[0]);
    return jsonScript(rendered.status, typeof rendered.body === 'string' ? JSON.parse(rendered.body) : rendered.body);
  }
  const account = accountOf(host.protocol, judged);
  const made = { account, model: host.modelId, stored: body.store !== false };
  const own = given.get(name) ?? [];
  returned.set(name, own.filter((signature) => text.includes(signature)).length);
  const prove = (): string => {
    const signature = memory.issueSignature(account, host.modelId);
    given.set(name, [...own, signature]);
    return signature;
  };
  const reply = host.reply(prove, step, body);
  memory.learn(JSON.stringify(reply), made);
  return jsonScript(200, reply);
}

let gateway: InProcessGateway;
beforeAll(async () => {
  outbound.answer = answer;
  gateway = await startInProcess({
    outbound,
    upstreams: names.map((name) => ({ name, protocol: hosts[name]!.protocol, base_url: `https://${name}.test`, api_keys: [{ key: `sk-${name}` }] })),
    models: names.map((name) => ({ name, upstream: name, upstream_model_id: hosts[name]!.modelId })),
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  refusals = [];
  calls = 0;
  given.clear();
  returned.clear();
  step = 0;
});

async function post(path: string, body: object): Promise<Body> {
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const json = await reply.json();
  if (reply.status !== 200) throw new Error(`step ${step}: ${reply.status} ${JSON.stringify(json)}`);
  return json;
}

const parameters = { type: 'object', properties: { step: { type: 'integer' } }, required: ['step'] };

/** An agent: keeps all that it is given, as agents do, and answers the calls. `ask` is one more request of the loop. */
interface Agent {
  ask(model: string): Promise<void>;
  /** A new question of the user, so that another loop begins. */
  say(text: string): void;
}

const dummy = 'skip_thought_signature_validator';

const agents: Record<string, () => Agent> = {
  messages() {
    const settings = { thinking: { type: 'enabled', budget_tokens: 2000 } };
    const messages: Body[] = [{ role: 'user', content: 'go' }];
    return {
      async ask(model) {
        const { content } = await post('/v1/messages', { model, max_tokens: 8000, ...settings, tools: [{ name: 'look', input_schema: parameters }], messages });
        const results = content.flatMap((block: Body) => (block.type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: block.id, content: 'ok' }] : []));
        messages.push({ role: 'assistant', content }, { role: 'user', content: results });
      },
      say: (text) => void messages.push({ role: 'assistant', content: [{ type: 'text', text: 'done' }] }, { role: 'user', content: text }),
    };
  },
  chat() {
    const messages: Body[] = [
      { role: 'developer', content: 'be brief' },
      { role: 'user', content: 'go' },
    ];
    return {
      async ask(model) {
        const { choices } = await post('/v1/chat/completions', { model, tools: [{ type: 'function', function: { name: 'look', parameters } }], messages });
        const { message } = choices[0];
        messages.push(message, ...message.tool_calls.map((call: Body) => ({ role: 'tool', tool_call_id: call.id, content: 'ok' })));
      },
      say: (text) => void messages.push({ role: 'assistant', content: 'done' }, { role: 'user', content: text }),
    };
  },
  responses() {
    const settings = { store: false, include: ['reasoning.encrypted_content'], reasoning: { effort: 'medium', summary: 'auto' } };
    const input: Body[] = [{ role: 'user', content: 'go' }];
    return {
      async ask(model) {
        const { output } = await post('/v1/responses', { model, ...settings, tools: [{ type: 'function', name: 'look', parameters, strict: false }], input });
        const results = output.flatMap((item: Body) =>
          item.type === 'function_call' ? [{ type: 'function_call_output', call_id: item.call_id, output: 'ok' }] : [],
        );
        input.push(...output, ...results);
      },
      say: (text) => void input.push({ role: 'assistant', content: [{ type: 'output_text', text: 'done' }] }, { role: 'user', content: text }),
    };
  },
  'generate-content': () => generateContent(false),
  // It marks the first call of each step that came without a signature, whatever the model is.
  'generate-content, as Gemini CLI': () => generateContent(true),
};

function generateContent(marks: boolean): Agent {
  const generationConfig = { thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' } };
  const contents: Body[] = [{ role: 'user', parts: [{ text: 'go' }] }];
  return {
    async ask(model) {
      const tools = [
        { functionDeclarations: [{ name: 'look', parameters: { type: 'OBJECT', properties: { step: { type: 'INTEGER' } }, required: ['step'] } }] },
      ];
      const { candidates } = await post(`/v1beta/models/${model}:generateContent`, { generationConfig, tools, contents });
      const { content } = candidates[0];
      const made = content.parts.find(({ functionCall }: Body) => functionCall);
      if (marks && made) made.thoughtSignature ??= dummy;
      const results = content.parts.flatMap(({ functionCall: call }: Body) =>
        call ? [{ functionResponse: { ...(call.id && { id: call.id }), name: call.name, response: { result: 'ok' } } }] : [],
      );
      contents.push(content, { role: 'user', parts: results });
    },
    say: (text) => void contents.push({ role: 'model', parts: [{ text: 'done' }] }, { role: 'user', parts: [{ text }] }),
  };
}

async function walk(agent: Agent, models: readonly string[]): Promise<void> {
  for (const model of models) {
    step++;
    if (model === '') agent.say('and now?');
    else await agent.ask(model);
  }
}

const isAsked = (model: string): boolean => model !== '';

describe.each(Object.keys(agents))('%s callers', (caller) => {
  test.each(names.flatMap((home) => names.filter((other) => other !== home).map((other) => [home, other] as const)))(
    '%s, a detour to %s, and back; then a new question',
    async (home, other) => {
      const agent = agents[caller]!();
      await walk(agent, [home, home, other, other, home, home]);
      expect({ refusals, calls }).toEqual({ refusals: [], calls: 6 });
      // What it proved of this loop, before the detour and after it, all but what it has just said.
      expect(returned.get(home)).toBe(Math.max(0, (given.get(home)?.length ?? 0) - 1));
      await walk(agent, ['', other, home, other]);
      expect({ refusals, calls }).toEqual({ refusals: [], calls: 9 });
    },
  );

  test('all vendors in one loop, and once more', async () => {
    const models = [...names, ...names.toReversed(), '', ...names];
    await walk(agents[caller]!(), models);
    expect({ refusals, calls }).toEqual({ refusals: [], calls: models.filter(isAsked).length });
  });
});
