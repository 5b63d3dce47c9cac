/** Requests as the wire wants them: its rules about order, blanks, names, tools and caches, and what each vendor's models take. */
import { describe, expect, test } from '@jest/globals';
import type { Conversation, Part } from '../../chat/conversation.ts';
import type { Target, WriteRequestContext, WrittenRequest } from '../../contract/index.ts';
import { injectCache } from './cache-points.ts';
import { signing } from './credentials.ts';
import { request } from './endpoint.ts';
import { writeRequest } from './write-request.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read freely.
type Json = any;

const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const targetOf = (upstreamModelId: string, more: Partial<Target> = {}): Target => ({
  baseUrl: 'https://bedrock-runtime.us-west-2.amazonaws.com',
  directPath: false,
  upstreamModelId,
  neutralHeaders: false,
  extraConfig: null,
  ...more,
});
const contextOf = (model: string): WriteRequestContext => ({
  target: targetOf(model),
  operation: 'generate',
  stream: false,
  openSignature: (sealed) => (sealed.startsWith('ours:') ? sealed.slice(5) : null),
  mintId: (prefix) => `${prefix}minted`,
});
function write(conversation: Partial<Conversation>, model = claude): { body: Json; losses: string[]; written: WrittenRequest } {
  const written = writeRequest({ system: [], turns: [], tools: [], sampling: {}, stream: false, ...conversation }, contextOf(model));
  return { body: JSON.parse(JSON.stringify(written.body)) as Json, losses: written.losses.map(({ field, action }) => `${action} ${field}`), written };
}
const text = (words: string): Part => ({ type: 'text', text: words });
const user = (...parts: Part[]) => ({ role: 'user' as const, parts });
const assistant = (...parts: Part[]) => ({ role: 'assistant' as const, parts });
const call = (id: string, name: string, args = '{}'): Part => ({ type: 'tool-call', id, name, arguments: args });
const result = (callId: string, words: string, more: object = {}): Part => ({
  type: 'tool-result',
  callId,
  content: words === '' ? [] : [{ type: 'text', text: words }],
  ...more,
});

describe('turns', () => {
  test('alternate, begin with the user, hold no blanks, and answer every call in the next turn', () => {
    const { body, losses } = write({
      turns: [
        assistant(text('Hello.')),
        user(text('a'), text('  ')),
        user(text('b')),
        assistant(call('x y', 'f'), call('t2', 'g', 'not json')),
        user(text('meanwhile'), result('x y', '')),
        assistant(text('done '), { type: 'thinking', text: 'cut', signature: 'ours:p' }),
      ],
    });
    expect(body.messages.map((one: Json) => one.role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant']);
    expect(body.messages[2].content).toEqual([{ text: 'a' }, { text: 'b' }]);
    const [first, second] = body.messages[3].content;
    expect(first.toolUse.toolUseId).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(second.toolUse).toEqual({ toolUseId: 't2', name: 'g', input: { input: 'not json' } });
    const results = body.messages[4].content;
    expect(results[0].toolResult).toEqual({ toolUseId: first.toolUse.toolUseId, content: [{ text: '(no output)' }] });
    expect(results[1].toolResult).toMatchObject({ toolUseId: 't2', status: 'error' });
    expect(results[2]).toEqual({ text: 'meanwhile' });
    expect(body.messages[5].content).toEqual([{ text: 'done' }]);
    expect(losses).toEqual(expect.arrayContaining(['emulated messages.0', 'emulated tool_result', 'dropped thinking', 'emulated tools']));
    // A history with calls is refused without definitions.
    expect(body.toolConfig.tools.map((tool: Json) => tool.toolSpec.name)).toEqual(['f', 'g']);
  });

  test('thinking goes back with its opened signature, and not at all without', () => {
    const { body, losses } = write({
      turns: [
        user(text('q')),
        assistant(
          { type: 'thinking', text: 'hm', signature: 'ours:sig' },
          { type: 'thinking', text: '', redacted: true, signature: 'ours:blob' },
          { type: 'thinking', text: 'theirs', signature: 'x' },
          text('a'),
        ),
        user(text('q2')),
      ],
    });
    expect(body.messages[1].content).toEqual([
      { reasoningContent: { reasoningText: { text: 'hm', signature: 'sig' } } },
      { reasoningContent: { redactedContent: Buffer.from('blob').toString('base64') } },
      { text: 'a' },
    ]);
    expect(losses).toContain('dropped thinking');
  });

  test('audio and video: notes to the messages vendor’s models, which take neither', () => {
    const parts: Part[] = [
      { type: 'media', kind: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
      { type: 'media', kind: 'video', mimeType: 'video/mp4', data: 'AAAA' },
      { type: 'media', kind: 'image', mimeType: 'image/png', data: 'AAAA' },
    ];
    const toClaude = write({ turns: [user(...parts)] });
    expect(toClaude.body.messages[0].content).toEqual([
      { text: '[audio omitted: audio/wav]' },
      { text: '[video omitted: video/mp4]' },
      { image: { format: 'png', source: { bytes: 'AAAA' } } },
    ]);
    expect(toClaude.losses).toContain('downgraded media');
    expect(Object.keys(write({ turns: [user(...parts)] }, 'us.amazon.nova-pro-v1:0').body.messages[0].content[1])).toEqual(['video']);
  });

  test('one call at a time is said in the messages vendor’s own choice', () => {
    const tools = [{ type: 'function' as const, name: 'f' }];
    const asked = (more: Partial<Conversation>, model?: string) => write({ turns: [user(text('q'))], tools, parallelToolCalls: false, ...more }, model);
    const choice = (more: Partial<Conversation>) => asked(more).body.additionalModelRequestFields?.tool_choice;
    expect(choice({})).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    expect(choice({ toolChoice: { type: 'any' } })).toEqual({ type: 'any', disable_parallel_tool_use: true });
    expect(choice({ toolChoice: { type: 'tool', name: 'f' } })).toEqual({ type: 'tool', name: 'f', disable_parallel_tool_use: true });
    expect(asked({ toolChoice: { type: 'any' } }).body.toolConfig).not.toHaveProperty('toolChoice');
    expect(asked({}).losses).not.toContain('dropped parallel_tool_calls');
    expect(choice({ parallelToolCalls: true })).toBeUndefined();
    expect(choice({ tools: [] })).toBeUndefined();
    const nova = asked({}, 'us.amazon.nova-pro-v1:0');
    expect([nova.body.additionalModelRequestFields, nova.losses]).toEqual([undefined, expect.arrayContaining(['dropped parallel_tool_calls'])]);
  });

  test('media: formats by type, documents under clean and unlike names, never alone; addresses become notes', () => {
    const pdf: Part = { type: 'media', kind: 'document', mimeType: 'application/pdf', data: 'JVBERi0=', filename: 'Q3_report: final.pdf' };
    const { body } = write({
      turns: [
        user(pdf, pdf, { type: 'media', kind: 'image', url: 'https://x.test/a.png' }, { type: 'media', kind: 'image', mimeType: 'image/JPG', data: 'AA==' }),
      ],
    });
    const content = body.messages[0].content;
    expect(content.slice(0, 2).map((block: Json) => block.document.name)).toEqual(['Q3 report final', 'Q3 report final (2)']);
    expect(content[2]).toEqual({ text: '[image omitted: https://x.test/a.png]' });
    expect(content[3]).toEqual({ image: { format: 'jpeg', source: { bytes: 'AA==' } } });
    expect(write({ turns: [user(pdf)] }).body.messages[0].content[1].text).toMatch(/\S/);
  });

  test('tool results carry JSON as such, and errors in words where the model takes no status', () => {
    const turns = [user(text('q')), assistant(call('1', 'f')), user(result('1', '{"a":1}', { json: { a: 1 }, isError: true }))];
    expect(write({ turns }).body.messages[2].content[0].toolResult).toEqual({ toolUseId: '1', content: [{ json: { a: 1 } }], status: 'error' });
    const llama = write({ turns }, 'meta.llama3-3-70b-instruct-v1:0');
    expect(llama.body.messages[2].content[0].toolResult.content[0].text).toMatch(/error/);
    expect(llama.body.messages[2].content[0].toolResult).not.toHaveProperty('status');
  });
});

describe('tools', () => {
  const turns = [user(text('q'))];
  const tools = [{ type: 'function' as const, name: 'f' }];

  test('choices: all, those the model takes, and none', () => {
    expect(write({ turns, tools, toolChoice: { type: 'tool', name: 'f' } }).body.toolConfig.toolChoice).toEqual({ tool: { name: 'f' } });
    expect(write({ turns, tools, toolChoice: { type: 'any' } }).body.toolConfig.toolChoice).toEqual({ any: {} });
    const mistral = write({ turns, tools, toolChoice: { type: 'tool', name: 'f' } }, 'mistral.mistral-large-2407-v1:0');
    expect([mistral.body.toolConfig.toolChoice, mistral.losses]).toEqual([{ any: {} }, ['downgraded tool_choice']]);
    const none = write({ turns, tools, toolChoice: { type: 'none' } });
    expect([none.body.toolConfig, none.losses]).toEqual([undefined, ['emulated tool_choice.none']]);
    const history = write({ turns: [user(text('q')), assistant(call('1', 'f')), user(result('1', 'r'))], tools, toolChoice: { type: 'none' } });
    expect([history.body.toolConfig.tools.length, history.losses]).toEqual([1, ['dropped tool_choice.none']]);
  });

  test('a schema is always held to: that it should be is no loss', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
    const { losses } = write({ turns, output: { type: 'schema', schema, strict: true } }, 'anthropic.claude-sonnet-4-5-20250929-v1:0');
    expect(losses).toEqual(['renamed response_format.strict']);
  });

  test('without tools only a call that is demanded is lost', () => {
    expect(write({ turns, toolChoice: { type: 'auto' } }).losses).toEqual([]);
    expect(write({ turns, toolChoice: { type: 'any' } }).losses).toEqual(['dropped tool_choice']);
  });
});

describe('what only some models take', () => {
  const turns = [user({ type: 'text', text: 'q', cache: { ttl: '1h' } })];

  test('cache points, at most four, the last ones', () => {
    const marked = (n: number) => Array.from({ length: n }, (_, at) => ({ text: `s${at}`, cache: {} }));
    const { body, losses } = write({ system: marked(5), turns });
    expect(body.system.filter((block: Json) => block.cachePoint)).toHaveLength(3);
    expect(body.messages[0].content[1]).toEqual({ cachePoint: { type: 'default', ttl: '1h' } });
    expect(losses).toContain('dropped cache_control');
    expect(write({ turns }, 'meta.llama3-1-8b-instruct-v1:0').losses).toEqual(['dropped cache_control']);
    expect(write({ turns }, 'us.anthropic.claude-3-7-sonnet-20250219-v1:0').body.messages[0].content[1]).toEqual({ cachePoint: { type: 'default' } });
  });

  test('cache points after text alone, where a model refuses them after results and files', () => {
    const marked = user(result('1', 'r', { cache: {} }), { type: 'text', text: 'go on', cache: {} });
    const looped = [user(text('q')), assistant(call('1', 'f')), marked];
    const { body, losses } = write({ turns: looped }, 'us.amazon.nova-pro-v1:0');
    expect(body.messages[2].content.slice(1)).toEqual([{ text: 'go on' }, { cachePoint: { type: 'default' } }]);
    expect(losses).toContain('dropped cache_control');
    expect(write({ turns: looped }).body.messages[2].content[1]).toEqual({ cachePoint: { type: 'default' } });
  });

  test('the points that the gateway sets keep to it', () => {
    const set = (upstreamModelId: string, last: object) => {
      const body = {
        messages: [
          { role: 'user', content: [{ text: 'q' }] },
          { role: 'user', content: [last] },
        ],
      };
      injectCache(body, contextOf(upstreamModelId));
      return body.messages.map(({ content }) => content.length);
    };
    const results = { toolResult: { toolUseId: '1', content: [{ text: 'r' }] } };
    expect(set('us.amazon.nova-pro-v1:0', results)).toEqual([2, 1]);
    expect(set('us.amazon.nova-pro-v1:0', { text: 'go on' })).toEqual([2, 2]);
    expect(set('us.anthropic.claude-sonnet-4-5-20250929-v1:0', results)).toEqual([2, 2]);
  });

  test('reasoning and top_k in each vendor’s words', () => {
    const asked = { turns, reasoning: { enabled: true, budget: 4096 }, sampling: { maxTokens: 9000, topK: 5 } };
    expect(write({ ...asked, sampling: { maxTokens: 9000 } }).body).toMatchObject({
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 4096 } },
      inferenceConfig: { maxTokens: 9000 },
    });
    expect(write(asked, 'us.amazon.nova-2-lite-v1:0').body.additionalModelRequestFields).toEqual({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' },
      inferenceConfig: { topK: 5 },
    });
    expect(write(asked, 'openai.gpt-oss-120b-1:0').body.additionalModelRequestFields).toEqual({ reasoning_effort: 'low' });
    const llama = write(asked, 'meta.llama3-3-70b-instruct-v1:0');
    expect(llama.body).not.toHaveProperty('additionalModelRequestFields');
    expect(llama.losses).toEqual(expect.arrayContaining(['dropped reasoning', 'dropped top_k']));
  });

  // https://github.com/UKGovernmentBEIS/inspect_ai/issues/3767
  test('Nova’s highest effort stands alone: sampling gives way to it, and it gives way to a limit of the reply', () => {
    const nova = 'us.amazon.nova-2-lite-v1:0';
    const high = { turns, reasoning: { effort: 'high' as const } };
    const config = (maxReasoningEffort: string) => ({ reasoningConfig: { type: 'enabled', maxReasoningEffort } });
    const sampled = write({ ...high, sampling: { temperature: 0.3, topP: 0.9, topK: 5, stop: ['x'] } }, nova);
    expect([sampled.body.additionalModelRequestFields, sampled.body.inferenceConfig]).toEqual([config('high'), { stopSequences: ['x'] }]);
    expect(sampled.losses).toEqual(expect.arrayContaining(['dropped temperature', 'dropped top_p', 'dropped top_k']));
    const limited = write({ ...high, sampling: { maxTokens: 4000, temperature: 0.3 } }, nova);
    expect([limited.body.additionalModelRequestFields, limited.body.inferenceConfig]).toEqual([config('medium'), { maxTokens: 4000, temperature: 0.3 }]);
    expect(limited.losses).toContain('downgraded reasoning.effort');
    const other = write({ ...high, sampling: { maxTokens: 4000 } }, 'openai.gpt-oss-120b-1:0');
    expect(other.body.additionalModelRequestFields).toEqual({ reasoning_effort: 'high' });
  });

  test('schemas natively, or in words that the reply must then fit', () => {
    const output = { type: 'schema' as const, schema: { type: 'object', properties: { a: { type: 'string' } } }, name: 'an answer' };
    const { jsonSchema } = write({ turns, output }).body.outputConfig.textFormat.structure;
    expect([jsonSchema.name, JSON.parse(jsonSchema.schema).additionalProperties]).toEqual(['an_answer', false]);
    const nova = write({ turns, output }, 'amazon.nova-pro-v1:0');
    expect(nova.body.system[0].text).toContain('"properties"');
    expect(nova.written.emulation).toEqual({ schema: output.schema });
  });

  test('system text opens the user turn where the model takes none', () => {
    const { body } = write({ system: [{ text: 'Be brief.' }], turns }, 'mistral.mistral-7b-instruct-v0:2');
    expect([body.system, body.messages[0].content[0]]).toEqual([undefined, { text: 'Be brief.' }]);
    expect(write({ system: [{ text: 'only this' }] }).body).toMatchObject({ messages: [{ role: 'user', content: [{ text: 'only this' }] }] });
  });
});

describe('addresses and credentials', () => {
  const url = (target: Target, stream = true) => request({ target, operation: 'generate', stream }).url;

  test('ids, profiles and ARNs are one segment', () => {
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2';
    expect(url(targetOf(claude))).toBe('https://bedrock-runtime.us-west-2.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream');
    expect(url(targetOf(arn), false)).toContain('/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2/converse');
    expect(url(targetOf("../x?y#(z)*'!"))).toContain('/model/..%2Fx%3Fy%23%28z%29%2A%27%21/converse-stream');
    expect(url(targetOf(claude, { directPath: true, baseUrl: 'https://proxy.test/here' }))).toBe('https://proxy.test/here');
  });

  test('models that stream nothing beside tools are asked for whole replies', () => {
    const verb = (id: string, body: unknown) =>
      request({ target: targetOf(id), operation: 'generate', stream: true, body: () => body })
        .url.split('/')
        .at(-1);
    expect(verb('us.meta.llama4-scout-17b-instruct-v1:0', { toolConfig: {} })).toBe('converse');
    expect(verb('us.meta.llama4-scout-17b-instruct-v1:0', {})).toBe('converse-stream');
    expect(verb(claude, { toolConfig: {} })).toBe('converse-stream');
  });

  test.each([
    ['AKIAIOSFODNN7EXAMPLE:wJalr/XUt+n', { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalr/XUt+n' }],
    ['ASIAX:s:tok/en==', { accessKeyId: 'ASIAX', secretAccessKey: 's', sessionToken: 'tok/en==' }],
    ['bedrock-api-key-YmVkcm9jaw==', null],
    ['ABSKQmVkcm9ja0FQSUtleQ==', null],
  ])('%s', (key, expected) => {
    const scheme = signing(key, targetOf(claude));
    if (expected === null) expect(scheme).toBeNull();
    else expect(scheme).toEqual({ scheme: 'sigv4', service: 'bedrock', region: 'us-west-2', ...expected });
  });

  test.each([
    ['https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com', null, 'us-gov-west-1'],
    ['https://vpce-0a.bedrock-runtime.eu-central-1.vpce.amazonaws.com', null, 'eu-central-1'],
    ['https://proxy.internal', null, 'us-east-1'],
    ['https://bedrock-runtime.us-west-2.amazonaws.com', { region: 'ap-southeast-2' }, 'ap-southeast-2'],
  ])('region of %s', (baseUrl, extraConfig, region) => {
    expect(signing('A:b', targetOf(claude, { baseUrl, extraConfig }))?.region).toBe(region);
  });
});
