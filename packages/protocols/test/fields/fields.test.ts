import { describe, expect, test } from '@jest/globals';
import { foldEvents, repairCalls, type Target } from '../../src/index.ts';
import { ask, contextOf, type Pair } from '../board/cross.ts';
import { speakers, target, upstreams, validate, writeContext } from '../laws/harness.ts';
import { type Body, bodies, loudFields, type Path } from './bodies.ts';

const models: Readonly<Record<string, string>> = {
  alpha: 'gpt-5.1',
  alpha_response: 'gpt-5.1',
  beta: 'claude-sonnet-4-5',
  gamma: 'gemini-3-pro-preview',
  cloudhost_converse: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  cloudhost_ide_streaming: 'claude-opus-4.7',
  delta: 'qwen-plus',
};

/** One host, a body for each of its vendors. */
const invoked = [
  'amazon.nova-pro-v1:0',
  'meta.llama3-70b-instruct-v1:0',
  'mistral.mistral-7b-instruct-v0:2',
  'amazon.titan-text-express-v1',
  'openai.gpt-oss-120b-1:0',
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
];

function pair(client: string, id: string, upstreamModelId: string, over: Partial<Target>): Pair {
  const upstream = upstreams.find((one) => one.id.split(',')[0] === id)!;
  return { client: speakers.find((one) => one.id === client)!, upstream: { ...upstream, id, target: { ...target, upstreamModelId, ...over } } };
}

/** Every upstream protocol once, with a model of its own. */
const pairsOf = (client: string, over: Partial<Target> = {}): Pair[] =>
  Object.entries(models).flatMap(([id, upstreamModelId]) => (id === client ? [] : [pair(client, id, upstreamModelId, over)]));

/** The same, and every kind of body that a host takes beside its own. */
const allPairsOf = (client: string): Pair[] => [
  ...pairsOf(client),
  ...invoked
    .filter((id) => client !== 'beta' || !id.includes('claude'))
    .map((id): Pair => {
      const made = pair(client, 'cloudhost_invoke', id, {});
      return { ...made, upstream: { ...made.upstream, id: `cloudhost_invoke, ${id}` } };
    }),
];

const pairTo = (client: string, upstream: string, over?: Partial<Target>): Pair => pairsOf(client, over).find((pair) => pair.upstream.id === upstream)!;

function withField(body: Body, path: Path, value: unknown): Body {
  const copy = structuredClone(body);
  let holder = copy as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) {
    if (holder[step] === undefined) holder[step] = {};
    holder = holder[step] as Record<string | number, unknown>;
  }
  holder[path.at(-1)!] = value;
  return copy;
}

/** Whether all of what the field is part of is a loss: a model that calls nothing gets no tools. */
const isGone = (pair: Pair, path: Path): boolean =>
  ask(pair, bodies[pair.client.id]!).losses.some(({ field, action }) => action === 'dropped' && field === path[0]);

const lossOf = (pair: Pair, body: Body, field: string) => ask(pair, body).losses.find((loss) => loss.field === field);
const bodyOf = (pair: Pair, body: Body) => JSON.parse(ask(pair, body).text);

describe('an optional field of an SDK is carried, or a loss names it', () => {
  for (const [client, fields] of Object.entries(loudFields)) {
    test.each(fields)(`${client}: %j = %j`, (path, value) => {
      const silent = allPairsOf(client).filter((pair) => {
        const [without, with_] = [bodies[client]!, withField(bodies[client]!, path, value)].map((body) => {
          const { text, losses } = ask(pair, body);
          // Ids that are minted differ by how often that was done.
          return JSON.stringify([text.replace(/"conversationId":"[^"]*"/, ''), losses]);
        });
        return without === with_ && !isGone(pair, path);
      });
      expect(silent.map((pair) => pair.upstream.id)).toEqual([]);
    });
  }

  test.each(['alpha', 'alpha_response'])('%s: a safety identifier beside a user', (client) => {
    const body = withField(bodies[client]!, ['user'], 'u-1');
    for (const pair of allPairsOf(client)) {
      const [without, with_] = [body, withField(body, ['safety_identifier'], 's-1')].map((one) => ask(pair, one));
      expect(with_!.text.includes('s-1') || with_!.losses.length > without!.losses.length).toBe(true);
    }
  });

  test('a safety identifier stays one between the two protocols that have it, and is a user elsewhere', () => {
    const asked = (client: string, upstream: string, more: object) =>
      bodyOf(pairTo(client, upstream), { ...bodies[client], safety_identifier: 's-1', ...more });
    expect(asked('alpha', 'alpha_response', { user: 'u-1' })).toMatchObject({ user: 'u-1', safety_identifier: 's-1' });
    expect(asked('alpha_response', 'alpha', {})).toMatchObject({ safety_identifier: 's-1' });
    expect(asked('alpha_response', 'alpha', {})).not.toHaveProperty('user');
    expect(asked('alpha', 'beta', {}).metadata).toEqual({ user_id: 's-1' });
    expect(asked('alpha', 'beta', { user: 'u-1' }).metadata).toEqual({ user_id: 'u-1' });
    const compatible = pairTo('alpha_response', 'alpha', { upstreamModelId: 'house-model' });
    expect(bodyOf(compatible, { ...bodies['alpha_response'], safety_identifier: 's-1' })).toMatchObject({ user: 's-1' });
  });
});

describe('an earlier reply of Responses that comes back', () => {
  const said = (more: object, part: object = {}) =>
    withField(bodies['alpha_response']!, ['input', 4], {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'x', annotations: [], logprobs: [], ...part }],
      ...more,
    });
  const filed = (more: object) =>
    withField(bodies['alpha_response']!, ['input', 0, 'content', 2], { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA', ...more });

  test('names its phase, its citations and the detail of its files as lost, and nothing without them', () => {
    for (const pair of pairsOf('alpha_response')) {
      const fields = (body: Body) => ask(pair, body).losses.map(({ field }) => field);
      expect(fields(said({ phase: 'commentary' })).filter((field) => /phase/.test(field))).toHaveLength(1);
      expect(fields(said({}, { annotations: [{ type: 'file_path', file_id: 'f', index: 0 }] }))).toContain('content.annotations');
      expect(fields(filed({ detail: 'high' }))).toContain('content.detail');
      expect([...fields(said({})), ...fields(filed({ detail: 'auto' }))].filter((field) => /phase|^content\./.test(field))).toEqual([]);
    }
  });
});

describe('what a caller may send is not what every upstream takes', () => {
  const asks = (client: string, path: Path, value: unknown): Body => withField(bodies[client]!, path, value);

  test('a long id of a user is sent as a hash, the same each time', () => {
    const user = `user_${'a'.repeat(64)}_account__session_0d5c7a1e-7a52-4c1c-9b6b-2f4b1b1f6a11`;
    for (const upstream of ['alpha', 'alpha_response']) {
      const pair = pairTo('beta', upstream);
      const body = asks('beta', ['metadata'], { user_id: user });
      expect(bodyOf(pair, body).user).toMatch(/^user_[0-9a-f]{32}$/);
      expect(bodyOf(pair, body).user).toBe(bodyOf(pair, body).user);
      expect(lossOf(pair, body, 'user')?.action).toBe('renamed');
      expect(bodyOf(pair, asks('beta', ['metadata'], { user_id: 'u-1' })).user).toBe('u-1');
    }
  });

  test('the session inside a user id in JSON steers the prompt cache', () => {
    const session = '0d5c7a1e-7a52-4c1c-9b6b-2f4b1b1f6a11';
    const user = JSON.stringify({ device_id: 'd'.repeat(64), account_uuid: '', session_id: session });
    expect(bodyOf(pairTo('beta', 'alpha'), asks('beta', ['metadata'], { user_id: user })).prompt_cache_key).toBe(session);
  });

  test.each(['alpha', 'alpha_response'])('service tiers use the values of %s, or are left out', (upstream) => {
    const pair = pairTo('beta', upstream);
    expect(bodyOf(pair, asks('beta', ['service_tier'], 'standard_only')).service_tier).toBe('default');
    expect(bodyOf(pair, asks('beta', ['service_tier'], 'auto')).service_tier).toBe('auto');
    const odd = asks('beta', ['service_tier'], 'golden');
    expect(bodyOf(pair, odd).service_tier).toBeUndefined();
    expect(lossOf(pair, odd, 'service_tier')?.action).toBe('dropped');
  });

  test('an image looked at as usual loses nothing', () => {
    for (const pair of pairsOf('alpha_response')) {
      expect(ask(pair, bodies['alpha_response']!).losses.filter(({ field }) => /detail/.test(field))).toEqual([]);
    }
  });

  test('a cache breakpoint of the vendor becomes a mark of another', () => {
    const marked = bodyOf(pairTo('alpha', 'beta'), asks('alpha', ['messages', 1, 'content', 0, 'prompt_cache_breakpoint'], { mode: 'explicit', ttl: '30m' }));
    expect(marked.messages[0].content[0].cache_control).toEqual({ type: 'ephemeral', ttl: '1h' });
  });

  test.each(['alpha', 'alpha_response'])('a file that another vendor keeps is a note to %s', (upstream) => {
    const body = asks('beta', ['messages', 0, 'content', 1], { type: 'document', source: { type: 'file', file_id: 'file_011CNha8iCJcU1wXNR6q4V8w' } });
    const { text, losses } = ask(pairTo('beta', upstream), body);
    expect(text).not.toContain('file_011');
    expect(text).toContain('[document omitted]');
    expect(losses.some(({ action }) => action === 'dropped')).toBe(true);
  });

  test('images beside the object of a result reach an assistant that streams', () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0K' } };
    const { text } = ask(pairTo('gamma', 'cloudhost_ide_streaming'), asks('gamma', ['contents', 2, 'parts', 0, 'functionResponse', 'parts'], [image]));
    expect(text).toContain('iVBORw0K');
  });

  test.each([
    ['cloudhost_converse', 'amazon.nova-pro-v1:0', ['inferenceConfig', 'maxTokens'], 10_000],
    ['delta', 'qwen-plus', ['parameters', 'max_tokens'], 32_768],
  ] as const)('%s: a limit beyond what %s writes becomes its own', (upstream, upstreamModelId, path, max) => {
    const pair = pairTo('beta', upstream, { upstreamModelId });
    const body = asks('beta', ['max_tokens'], 64_000);
    expect(path.reduce((value, step) => value[step], bodyOf(pair, body))).toBe(max);
    expect(lossOf(pair, body, 'max_tokens')?.action).toBe('downgraded');
  });

  test('no tokens at all, which warms a cache, is one token where that means nothing', () => {
    expect(bodyOf(pairTo('beta', 'cloudhost_converse'), asks('beta', ['max_tokens'], 0)).inferenceConfig.maxTokens).toBe(1);
    const { upstream } = pairTo('alpha', 'beta');
    const field = (key: string): unknown => ({ max_tokens: 0, thinking: { type: 'enabled', budget_tokens: 2000 } })[key];
    const context = { target: upstream.target, operation: 'generate', stream: false, openSignature: () => null, mintId: (prefix: string) => prefix } as const;
    expect(upstream.upstream.normalize!(field, context).edits).toEqual([]);
  });

  test.each([
    ['alpha', { max_tokens: -1 }],
    ['alpha', { max_completion_tokens: -1 }],
    ['alpha_response', { max_output_tokens: -1 }],
    ['beta', { max_tokens: -1 }],
    ['gamma', { generationConfig: { maxOutputTokens: -1 } }],
  ] as const)('%s %j: a negative limit, which is none to many servers, goes verbatim to who reads it', (protocol, body) => {
    const { upstream } = pairTo(protocol === 'alpha' ? 'beta' : 'alpha', protocol, { upstreamModelId: 'local-model' });
    const field = (key: string): unknown => (body as Record<string, unknown>)[key];
    const context = { target: upstream.target, operation: 'generate', stream: false, openSignature: () => null, mintId: (prefix: string) => prefix } as const;
    expect(upstream.upstream.normalize!(field, context).edits).toEqual([]);
  });
});

describe('tools', () => {
  test.each([{ type: 'object' }, {}, { type: 'object', additionalProperties: false }])(
    'arguments without properties (%j) name an empty list of them',
    (schema) => {
      const body = withField(bodies['beta']!, ['tools', 0, 'input_schema'], schema);
      const expected = { ...schema, type: 'object', properties: {} };
      expect(bodyOf(pairTo('beta', 'alpha'), body).tools[0].function.parameters).toEqual(expected);
      expect(bodyOf(pairTo('beta', 'alpha_response'), body).tools[0].parameters).toEqual(expected);
    },
  );
});

describe('an upstream that counts nothing', () => {
  test('is estimated for a caller of messages, whole as streamed', () => {
    const pair = pairTo('beta', 'alpha');
    const asked = ask(pair, bodies['beta']!);
    const choice = { index: 0, message: { role: 'assistant', content: 'Hello there' }, finish_reason: 'stop' };
    const events = pair.upstream.upstream.readWhole({ id: 'c', choices: [choice] }, pair.upstream.target);
    const whole = pair.client.client.writeWhole(foldEvents(events), contextOf(asked)).body as { usage: Record<string, unknown> };
    const writer = pair.client.client.createWriter(contextOf(asked));
    const text = events.map((event) => writer.write(event)).join('');
    const streamed = JSON.parse(/^data: (\{"type":"message_delta".*)$/m.exec(text)![1]!).usage;
    expect(whole.usage).toMatchObject({ input_tokens: 10, output_tokens: 3 });
    expect(streamed).toMatchObject({ input_tokens: 10, output_tokens: 3 });
  });
});

describe('answers to calls', () => {
  test.each([
    ['no such file', 'Error: no such file'],
    ['Error: no such file', 'Error: no such file'],
  ])('a failed result (%s) says so in its words, and nothing is lost', (text, described) => {
    const failed = { type: 'tool_result', tool_use_id: 'c1', is_error: true, content: text };
    const { text: sent, losses } = ask(pairTo('beta', 'alpha_response'), withField(bodies['beta']!, ['messages', 2, 'content', 0], failed));
    expect(JSON.parse(sent).input.find(({ type }: { type: string }) => type === 'function_call_output').output).toBe(described);
    expect(losses.find(({ field }) => /is_error/.test(field))?.action).toBe('emulated');
  });
});

describe('token probabilities', () => {
  test('reach a caller of chat completions from a gamma upstream, streamed and whole', () => {
    const pair = pairTo('alpha', 'gamma');
    const asked = ask(pair, withField(bodies['alpha']!, ['logprobs'], true));
    const candidate = (token: string, logProbability: number) => ({ token, tokenId: 1, logProbability });
    const part = (text: string, more: object = {}) => ({
      candidates: [
        {
          content: { role: 'model', parts: [{ text }] },
          logprobsResult: { chosenCandidates: [candidate(text, -0.5)], topCandidates: [{ candidates: [candidate(text, -0.5), candidate('x', -2)] }] },
          ...more,
        },
      ],
    });
    const reader = pair.upstream.upstream.createReader(pair.upstream.target);
    const records = [part('Hé'), part('llo', { finishReason: 'STOP' })];
    const events = [...records.flatMap((json) => reader.read({ data: '', json })), ...reader.finish()];
    const expected = ['Hé', 'llo'].map((token) => ({
      token,
      logprob: -0.5,
      bytes: [...Buffer.from(token)],
      top_logprobs: [
        { token, logprob: -0.5, bytes: [...Buffer.from(token)] },
        { token: 'x', logprob: -2, bytes: [120] },
      ],
    }));
    const whole = pair.client.client.writeWhole(foldEvents(events), contextOf(asked)).body as { choices: [Record<string, unknown>] };
    expect(whole.choices[0]).toMatchObject({ message: { content: 'Héllo' }, logprobs: { content: expected } });
    const writer = pair.client.client.createWriter(contextOf(asked));
    const text = events.map((event) => writer.write(event)).join('');
    expect(validate(pair.client, text)).toEqual([]);
    const described = [...text.matchAll(/^data: (\{.*)$/gm)].flatMap(([, json]) => JSON.parse(json!).choices[0]?.logprobs?.content ?? []);
    expect(described).toEqual(expected);
  });
});

describe('a body of very many parts is read and written like any other', () => {
  const many = (part: object): object[] => Array.from({ length: 150_000 }, () => part);
  const result = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
  test.each<[string, Body]>([
    [
      'alpha',
      {
        messages: [
          { role: 'system', content: many({ type: 'text', text: 'a' }) },
          { role: 'user', content: 'x' },
        ],
      },
    ],
    ['alpha', { messages: [{ role: 'tool', tool_call_id: 'c', content: many({ type: 'text', text: 'a' }) }] }],
    [
      'alpha_response',
      {
        input: [
          { role: 'system', content: many({ type: 'input_text', text: 'a' }) },
          { role: 'user', content: 'x' },
        ],
      },
    ],
    [
      'alpha',
      {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: 'y', reasoning_details: many({ type: 'reasoning.text', text: 'a', signature: 's' }) },
        ],
      },
    ],
    [
      'beta',
      { max_tokens: 9, messages: [{ role: 'user', content: 'x' }, ...[1, 2].map(() => ({ role: 'system', content: many({ type: 'text', text: 'a' }) }))] },
    ],
    [
      'alpha_response',
      { input: [{ role: 'user', content: 'x' }, result, { type: 'function_call_output', call_id: 'c', output: many({ type: 'input_text', text: 'a' }) }] },
    ],
  ])('%s %#', (client, body) => {
    for (const upstream of ['alpha_response', 'beta', 'gamma'].filter((id) => id !== client)) {
      const pair = pairTo(client, upstream, { upstreamModelId: 'claude-opus-4-8' });
      const conversation = pair.client.client.readRequest(body, { path: '', operation: 'generate', model: 'm', streamForm: 'sse', headers: {} }).conversation;
      const written = pair.upstream.upstream.writeRequest(repairCalls(conversation)?.conversation ?? conversation, writeContext(false, pair.upstream.target));
      expect(written.body).toBeDefined();
    }
  });
});

describe('a conversation that its vendor compacted', () => {
  const compacted = {
    ...bodies['beta'],
    messages: [
      { role: 'user', content: 'long ago' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'before' },
          { type: 'compaction', content: 'The summary.', encrypted_content: 'AAAA' },
          { type: 'text', text: 'after' },
        ],
      },
      { role: 'user', content: 'go on' },
    ],
  };

  test('begins with the summary elsewhere', () => {
    for (const pair of pairsOf('beta')) {
      const { text, losses } = ask(pair, compacted);
      expect(text).toContain('The summary.');
      expect(text).not.toMatch(/long ago|before/);
      expect(text.indexOf('The summary.')).toBeLessThan(text.indexOf('after'));
      expect(losses).toContainEqual(expect.objectContaining({ field: 'content.compaction', action: 'downgraded' }));
    }
  });

  test('is whole where compaction failed', () => {
    const failed = structuredClone(compacted);
    (failed.messages[1]!.content as Record<string, unknown>[])[1]!['content'] = null;
    expect(ask(pairTo('beta', 'alpha'), failed).text).toMatch(/long ago.*before.*after.*go on/);
  });
});
