/** What vendors are known to refuse of the requests that callers of other protocols, or of their own one, send all the time. */
import { describe, expect, test } from '@jest/globals';
import { findFamily } from '@model-gateway/model-catalog';
import { reach } from './pass.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read freely.
type Json = any;

const hello = { messages: [{ role: 'user', content: 'hello' }] };
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const withImage = (mimeType: string, data = pixel) => ({
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } },
      ],
    },
  ],
});
const tool = (parameters: unknown) => ({ ...hello, tools: [{ type: 'function', function: { name: 'f', parameters } }] });

describe('names of end users', () => {
  test.each([
    ['alpha', 'beta'],
    ['alpha', 'cloudhost_invoke'],
    ['alpha_response', 'beta'],
  ] as const)('e-mail addresses and telephone numbers go from %s to %s as a hash', (from, to) => {
    const model = to === 'beta' ? 'claude-sonnet-4-5' : 'anthropic.claude-sonnet-4-5-20250929-v1:0';
    for (const user of ['me@example.com', '+49 170 1234567', '01701234567']) {
      const { body, losses } = reach(from, to, model, { ...(from === 'alpha' ? hello : { input: 'hello' }), user });
      expect(body.metadata.user_id).toMatch(/^user_[0-9a-f]{32}$/);
      expect(losses).toContain('renamed user');
    }
    const plain = reach(from, to, model, { ...(from === 'alpha' ? hello : { input: 'hello' }), user: 'user_42' });
    expect(plain.body.metadata).toEqual({ user_id: 'user_42' });
    expect(plain.losses).not.toContain('renamed user');
  });
});

describe('Mistral takes the fields of its schema alone', () => {
  const asked = {
    ...{ max_tokens: 2000, temperature: 1.9, metadata: { user_id: 'user_1' }, thinking: { type: 'enabled', budget_tokens: 1074 } },
    messages: [{ role: 'user', content: 'hello' }],
  };
  test('from the messages protocol', () => {
    const { body, losses } = reach('beta', 'alpha', 'mistral-large-latest', asked);
    expect(body).toEqual({
      model: 'mistral-large-latest',
      messages: [{ role: 'user', content: 'hello' }],
      max_tokens: 2000,
      temperature: 1.5,
      stream: undefined,
    });
    expect(losses).toEqual(expect.arrayContaining(['dropped user', 'dropped reasoning', 'downgraded temperature']));
  });
  test('its models with switchable thinking take on and off only', () => {
    expect(reach('beta', 'alpha', 'mistral-small-latest', asked).body.reasoning_effort).toBe('high');
    expect(reach('beta', 'alpha', 'mistral-small-latest', { ...asked, thinking: { type: 'disabled' } }).body.reasoning_effort).toBe('none');
    expect(reach('beta', 'alpha', 'magistral-medium-latest', asked).body).not.toHaveProperty('reasoning_effort');
    expect(reach('alpha', 'alpha', 'mistral-small-latest', { ...hello, reasoning_effort: 'low' }).body.reasoning_effort).toBe('high');
  });
  test('from its own protocol', () => {
    const { body, losses } = reach('alpha', 'alpha', 'mistral-large-latest', {
      ...{
        model: 'm',
        max_completion_tokens: 50,
        temperature: 1.9,
        seed: 7,
        user: 'u',
        logprobs: true,
        top_logprobs: 2,
        store: false,
        reasoning_effort: 'low',
      },
      messages: [
        { role: 'user', content: 'hello', name: 'ann' },
        { role: 'assistant', content: 'hi', refusal: null, annotations: [] },
        { role: 'user', content: 'go' },
      ],
    });
    expect(body).toEqual({
      ...{ model: 'mistral-large-latest', max_tokens: 50, temperature: 1.5, random_seed: 7 },
      messages: [
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: 'hi' },
        { role: 'user', content: 'go' },
      ],
    });
    expect(losses).toEqual(
      expect.arrayContaining([
        ...['renamed max_completion_tokens', 'renamed seed', 'downgraded temperature', 'dropped user', 'dropped logprobs', 'dropped store'],
        ...['dropped reasoning_effort', 'dropped messages.name'],
      ]),
    );
  });
});

describe('types of images', () => {
  test.each([
    ['beta', 'claude-sonnet-4-5', (body: Json) => body.messages[0].content[1].source.media_type],
    ['cloudhost_invoke', 'anthropic.claude-sonnet-4-5-20250929-v1:0', (body: Json) => body.messages[0].content[1].source.media_type],
    ['gamma', 'gemini-2.5-flash', (body: Json) => body.contents[0].parts[1].inlineData.mimeType],
  ] as const)('image/jpg is image/jpeg at %s', (to, model, typeOf) => {
    expect(typeOf(reach('alpha', to, model, withImage('image/jpg')).body)).toBe('image/jpeg');
  });
  test.each(['image/bmp', 'image/svg+xml', 'text/plain'])('%s is no image there: a note replaces it', (mimeType) => {
    for (const [to, model] of [
      ['beta', 'claude-sonnet-4-5'],
      ['cloudhost_invoke', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
    ] as const) {
      const { body, losses } = reach('alpha', to, model, withImage(mimeType));
      expect(body.messages[0].content[1]).toMatchObject({ type: 'text', text: expect.stringContaining(`image omitted: ${mimeType}`) });
      expect(losses).toContain('downgraded media');
    }
  });
});

describe('schemas of tools', () => {
  const choice = {
    anyOf: [
      { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      { type: 'object', properties: { url: { type: 'string' }, depth: { type: 'integer' } }, required: ['url'] },
    ],
  };
  const schemaAt: Record<string, (body: Json) => Json> = {
    alpha: (body) => body.tools[0].function.parameters,
    alpha_response: (body) => body.tools[0].parameters,
    beta: (body) => body.tools[0].input_schema,
    cloudhost_invoke: (body) => body.tools[0].input_schema,
    cloudhost_converse: (body) => body.toolConfig.tools[0].toolSpec.inputSchema.json,
  };
  const upstreams = [
    ['alpha', 'gpt-5.2'],
    ['alpha_response', 'gpt-5.2'],
    ['beta', 'claude-sonnet-4-5'],
    ['cloudhost_invoke', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
    ['cloudhost_converse', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ] as const;
  const ask = (to: (typeof upstreams)[number][0], model: string, schema: object) =>
    reach('gamma', to, model, {
      contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
      tools: [{ functionDeclarations: [{ name: 'f', description: 'Fetches.', parametersJsonSchema: schema }] }],
    });

  test.each(upstreams)('a choice at the root becomes one object at %s, with the choice in words', (to, model) => {
    for (const word of ['anyOf', 'oneOf', 'allOf']) {
      const { body, losses } = ask(to, model, { [word]: choice.anyOf, $defs: { x: { type: 'string' } } });
      const schema = schemaAt[to]?.(body);
      expect(schema).toMatchObject({ type: 'object', properties: { path: { type: 'string' }, url: { type: 'string' }, depth: { type: 'integer' } } });
      expect(schema).not.toHaveProperty(word);
      expect(schema.required ?? []).toEqual(word === 'allOf' ? ['path', 'url'] : []);
      if (word !== 'allOf') expect(schema.description).toMatch(/path.*or.*url/s);
      expect(schema.$defs).toEqual({ x: { type: 'string' } });
      expect(losses).toContain('downgraded tools.parameters');
    }
  });
  test('a property that the members declare differently may be either', () => {
    const { body } = ask('beta', 'claude-sonnet-4-5', {
      type: 'object',
      properties: { kept: { type: 'boolean' } },
      required: ['kept'],
      oneOf: [{ properties: { a: { type: 'string' } } }, { properties: { a: { type: 'integer' } } }],
    });
    expect(body.tools[0].input_schema).toMatchObject({
      properties: { kept: { type: 'boolean' }, a: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
      required: ['kept'],
    });
  });
  test.each([upstreams[0], upstreams[1]])('lists that do not say what they hold hold anything, at %s', (to, model) => {
    const { body } = ask(to, model, {
      type: 'object',
      properties: { list: { type: 'array' }, deep: { type: 'array', items: { type: ['array', 'null'] } }, said: { type: 'array', items: { type: 'string' } } },
    });
    expect(schemaAt[to]?.(body).properties).toEqual({
      list: { type: 'array', items: {} },
      deep: { type: 'array', items: { type: ['array', 'null'], items: {} } },
      said: { type: 'array', items: { type: 'string' } },
    });
  });
});

describe('structured answers from Claude', () => {
  const format = (schema: object) => ({ ...hello, response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } });
  test.each([
    ['beta', 'claude-sonnet-4-5', (body: Json) => body.output_config.format.schema],
    [
      'cloudhost_converse',
      'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      (body: Json) => JSON.parse(body.outputConfig.textFormat.structure.jsonSchema.schema),
    ],
  ] as const)('schemas are in the dialect that the vendor’s own SDK writes, at %s', (to, model, schemaOf) => {
    const { body } = reach(
      'alpha',
      to,
      model,
      format({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        properties: {
          a: { type: 'integer', format: 'int32', minimum: 1 },
          b: { type: 'string', format: 'uri-reference' },
          c: { type: 'string', format: 'date-time' },
          d: { type: 'array', prefixItems: [{ type: 'string' }] },
          f: { oneOf: [{ type: 'string' }, { type: ['object', 'null'], properties: { x: { type: 'string' } } }] },
        },
        patternProperties: { '^x': { type: 'string' } },
      }),
    );
    const schema = schemaOf(body);
    expect(schema).toMatchObject({
      additionalProperties: false,
      properties: {
        a: { type: 'integer' },
        b: { type: 'string' },
        c: { type: 'string', format: 'date-time' },
        d: { type: 'array' },
        f: { anyOf: [{ type: 'string' }, { type: ['object', 'null'], additionalProperties: false }] },
      },
    });
    for (const word of ['int32', 'minimum: 1']) expect(schema.properties.a.description).toContain(word);
    expect(schema.properties.b.description).toContain('uri-reference');
    expect(schema.properties.d.description).toContain('prefixItems');
    expect(schema.description).toContain('patternProperties');
    for (const word of ['format', 'minimum']) expect(schema.properties.a).not.toHaveProperty(word);
    expect(schema.properties.f).not.toHaveProperty('oneOf');
    expect(schema).not.toHaveProperty('$schema');
  });
  test('a map, which closing would empty, is asked for by other means', () => {
    const map = { type: 'object', properties: { g: { type: 'object', additionalProperties: { type: 'string' } } } };
    const { body, losses } = reach('alpha', 'beta', 'claude-sonnet-4-5', format(map));
    expect(body).not.toHaveProperty('output_config');
    expect(body.tools[0].input_schema.properties.g).toEqual({ type: 'object', additionalProperties: { type: 'string' } });
    expect(body.tool_choice).toMatchObject({ type: 'tool' });
    expect(losses).toContain('emulated response_format');
  });
});

describe('models that read text only', () => {
  const screenshot = {
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'look' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'shot', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [
              { type: 'text', text: 'done' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
            ],
          },
        ],
      },
    ],
  };
  test.each([
    ['alpha', 'deepseek-reasoner'],
    ['alpha', 'gpt-oss-120b'],
    ['cloudhost_converse', 'meta.llama3-3-70b-instruct-v1:0'],
    ['beta', 'deepseek-chat'],
  ] as const)('a note stands for a picture of the history, %s of %s', (to, model) => {
    const { body, losses } = reach('beta', to, model, screenshot);
    expect(JSON.stringify(body)).not.toContain(pixel.slice(0, 20));
    expect(JSON.stringify(body)).toContain('[image left out: this model reads text only]');
    expect(losses).toContain('downgraded messages.image');
  });
  test('in the bytes of a caller of the same protocol too', () => {
    const { body, losses } = reach('alpha', 'alpha', 'deepseek-chat', withImage('image/png'));
    expect(body.messages[0].content).toEqual([
      { type: 'text', text: 'look' },
      { type: 'text', text: '[image left out: this model reads text only]' },
    ]);
    expect(losses).toContain('downgraded messages.image');
  });
  test('models that see, and those that nothing is known of, get it', () => {
    for (const model of ['gpt-4o', 'mistral-large-latest', 'house-model'])
      expect(JSON.stringify(reach('beta', 'alpha', model, screenshot).body)).toContain(pixel.slice(0, 20));
  });
  test('an admin knows better', () => {
    const family = { ...findFamily('deepseek-chat'), vision: true };
    expect(JSON.stringify(reach('beta', 'alpha', 'deepseek-chat', screenshot, { family }).body)).toContain(pixel.slice(0, 20));
  });
});

describe('begun replies', () => {
  const begun = {
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'JSON please' },
      { role: 'assistant', content: '{"a":' },
    ],
  };
  const chat = { messages: begun.messages };
  test('are marked where the vendor continues them by a mark', () => {
    expect(reach('beta', 'delta', 'qwen-plus', begun).body.input.messages.at(-1)).toEqual({ role: 'assistant', content: '{"a":', partial: true });
    expect(reach('beta', 'alpha', 'mistral-large-latest', begun).body.messages.at(-1)).toEqual({ role: 'assistant', content: '{"a":', prefix: true });
    expect(reach('alpha', 'alpha', 'mistral-large-latest', chat).body.messages.at(-1)).toEqual({ role: 'assistant', content: '{"a":', prefix: true });
    expect(reach('alpha', 'beta', 'claude-sonnet-4-5', chat).body.messages.at(-1)).toMatchObject({ role: 'assistant' });
  });
  test.each([
    ['beta', 'alpha', 'gpt-4o'],
    ['beta', 'alpha_response', 'gpt-5.2'],
    ['alpha', 'beta', 'claude-opus-4-6'],
    ['alpha', 'beta', 'claude-opus-4-7'],
    ['gamma', 'beta', 'claude-sonnet-4-6'],
    ['alpha', 'cloudhost_invoke', 'us.anthropic.claude-sonnet-4-6-v1:0'],
    ['alpha', 'cloudhost_converse', 'us.anthropic.claude-opus-4-6-v1:0'],
    ['beta', 'cloudhost_converse', 'us.amazon.nova-pro-v1:0'],
    ['beta', 'alpha', 'deepseek-chat'],
  ] as const)('are asked to be gone on with where nobody continues them: %s to %s of %s', (from, to, model) => {
    const contents = begun.messages.map(({ role, content }) => ({ role: role === 'assistant' ? 'model' : role, parts: [{ text: content }] }));
    const { body, losses } = reach(from, to, model, from === 'gamma' ? { contents } : from === 'beta' ? begun : chat);
    const last = (body.messages ?? body.input).at(-1);
    expect(last.role).toBe('user');
    expect(JSON.stringify(last.content)).toContain('Continue.');
    expect(losses).toContain('downgraded messages.prefill');
  });
});

describe('two calls of one turn under one id', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"n":1}' } };
  const asked = {
    messages: [
      { role: 'user', content: 'both' },
      { role: 'assistant', content: null, tool_calls: [call, { ...call, function: { name: 'f', arguments: '{"n":2}' } }] },
      { role: 'tool', tool_call_id: 'c', content: 'one' },
      { role: 'tool', tool_call_id: 'c', content: 'two' },
    ],
  };
  const items = {
    input: [
      { role: 'user', content: 'both' },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"n":1}' },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"n":2}' },
      { type: 'function_call_output', call_id: 'c', output: 'one' },
      { type: 'function_call_output', call_id: 'c', output: 'two' },
    ],
  };
  test.each([
    ['alpha', 'gamma', 'gemini-2.5-pro'],
    ['alpha', 'alpha_response', 'gpt-5.2'],
    ['alpha_response', 'alpha', 'gpt-5.2'],
    ['alpha', 'delta', 'qwen-plus'],
    ['alpha', 'beta', 'claude-sonnet-4-5'],
    ['alpha', 'cloudhost_invoke', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
    ['alpha_response', 'cloudhost_converse', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
    ['alpha', 'cloudhost_ide_streaming', 'claude-sonnet-4.5'],
    ['alpha_response', 'beta', 'claude-sonnet-4-5'],
  ] as const)('are told apart, and each has its own result: %s to %s', (from, to, model) => {
    const { body, losses } = reach(from, to, model, from === 'alpha' ? asked : items);
    const text = JSON.stringify(body);
    expect(text).not.toMatch(/No result was recorded|\[tool result/);
    for (const word of ['one', 'two']) expect(text.split(`"${word}"`)).toHaveLength(2);
    expect(text.indexOf('"one"')).toBeLessThan(text.indexOf('"two"'));
    const ids = [...text.matchAll(/"(?:id|call_id|tool_call_id|toolUseId|tool_use_id)":"([^"]+)"/g)].map((match) => match[1]);
    const counts = [...new Set(ids)].map((id) => ids.filter((one) => one === id).length);
    expect(counts).toEqual([2, 2]);
    expect(losses).toContain('renamed tool_calls.id');
  });
});

describe('Gemini’s nullable', () => {
  const schema = {
    type: 'OBJECT',
    properties: {
      e: { type: 'STRING', enum: ['a', 'b'], nullable: true },
      a: { anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }], nullable: true },
      p: { type: 'STRING', nullable: true },
    },
  };
  const properties = {
    e: { type: ['string', 'null'], enum: ['a', 'b', null] },
    a: { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
    p: { type: ['string', 'null'] },
  };
  const contents = [{ role: 'user', parts: [{ text: 'hello' }] }];
  test('accompanies values and choices, in tools and in answers', () => {
    const tools = reach('gamma', 'alpha', 'gpt-5.2', { contents, tools: [{ functionDeclarations: [{ name: 'f', parameters: schema }] }] });
    expect(tools.body.tools[0].function.parameters.properties).toEqual(properties);
    const answer = reach('gamma', 'alpha', 'gpt-5.2', { contents, generationConfig: { responseMimeType: 'application/json', responseSchema: schema } });
    expect(answer.body.response_format.json_schema.schema.properties).toEqual(properties);
  });
  test('and comes back from JSON schema as such', () => {
    const { body } = reach('alpha', 'gamma', 'gemini-2.5-flash', tool({ type: 'object', properties }));
    expect(body.tools[0].functionDeclarations[0].parameters.properties).toMatchObject({
      e: { type: 'string', enum: ['a', 'b'], nullable: true },
      p: { type: 'string', nullable: true },
    });
  });
});
