/** What callers of each protocol send when they use a feature: bodies as a client would write them, each with nothing else in it. */

export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const pdf = 'JVBERi0xLjQKMSAwIG9iago8PC9UeXBlL0NhdGFsb2c+PgplbmRvYmoKdHJhaWxlciA8PC9Sb290IDEgMCBSPj4KJSVFT0YK';
export const schema = { type: 'object', properties: { capital_city: { type: 'string' } }, required: ['capital_city'], additionalProperties: false };

const system = 'Be brief.';
const words = 'Speak of rivers.';
const weather = {
  name: 'get_weather',
  description: 'Weather of a place',
  schema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};
/** Calls of the history and what they gave. */
const calls = [
  { id: 'call_1', input: { place: 'Paris' }, result: '21 °C' },
  { id: 'call_2', input: { place: 'Oslo' }, result: '4 °C' },
];
type Calls = typeof calls;

/** Builds the bodies of one protocol; `null`: its callers have no word for the feature. */
interface Asker {
  text(): object;
  tools(history: Calls): object;
  image(): object;
  document(): object;
  thinking(): object;
  structured(): object;
  marked(): object | null;
  citing(): object | null;
}

function chatCompletions(): Asker {
  const body = (content: unknown, more: object = {}): object => ({
    model: 'm',
    messages: [
      { role: 'system', content: system },
      { role: 'user', content },
    ],
    ...more,
  });
  const text = { type: 'text', text: words };
  return {
    text: () => body(words),
    tools: (history) => ({
      model: 'm',
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: words },
        {
          role: 'assistant',
          content: null,
          tool_calls: history.map(({ id, input }) => ({ id, type: 'function', function: { name: weather.name, arguments: JSON.stringify(input) } })),
        },
        ...history.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
      ],
      tools: [{ type: 'function', function: { name: weather.name, description: weather.description, parameters: weather.schema } }],
    }),
    image: () => body([text, { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }]),
    document: () => body([text, { type: 'file', file: { filename: 'river.pdf', file_data: `data:application/pdf;base64,${pdf}` } }]),
    thinking: () => body(words, { reasoning_effort: 'high' }),
    structured: () => body(words, { response_format: { type: 'json_schema', json_schema: { name: 'place', strict: true, schema } } }),
    marked: () => null,
    citing: () => null,
  };
}

function responses(): Asker {
  const message = (content: object[]): object => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text: words }, ...content] });
  const body = (input: object[], more: object = {}): object => ({ model: 'm', instructions: system, input, store: false, ...more });
  return {
    text: () => body([message([])]),
    tools: (history) =>
      body(
        [
          message([]),
          ...history.map(({ id, input }) => ({ type: 'function_call', call_id: id, name: weather.name, arguments: JSON.stringify(input) })),
          ...history.map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result })),
        ],
        { tools: [{ type: 'function', name: weather.name, description: weather.description, parameters: weather.schema, strict: false }] },
      ),
    image: () => body([message([{ type: 'input_image', image_url: `data:image/png;base64,${png}` }])]),
    document: () => body([message([{ type: 'input_file', filename: 'river.pdf', file_data: `data:application/pdf;base64,${pdf}` }])]),
    thinking: () => body([message([])], { reasoning: { effort: 'high', summary: 'auto' } }),
    structured: () => body([message([])], { text: { format: { type: 'json_schema', name: 'place', strict: true, schema } } }),
    marked: () => null,
    citing: () => null,
  };
}

function messages(): Asker {
  const body = (content: unknown, more: object = {}): object => ({ model: 'm', max_tokens: 20_000, system, messages: [{ role: 'user', content }], ...more });
  const text = { type: 'text', text: words };
  const source = (media_type: string, data: string): object => ({ type: 'base64', media_type, data });
  const document = { type: 'document', source: source('application/pdf', pdf) };
  return {
    text: () => body(words),
    tools: (history) => ({
      ...body(words),
      messages: [
        { role: 'user', content: words },
        { role: 'assistant', content: history.map(({ id, input }) => ({ type: 'tool_use', id, name: weather.name, input })) },
        { role: 'user', content: history.map(({ id, result }) => ({ type: 'tool_result', tool_use_id: id, content: result })) },
      ],
      tools: [{ name: weather.name, description: weather.description, input_schema: weather.schema }],
    }),
    image: () => body([text, { type: 'image', source: source('image/png', png) }]),
    document: () => body([text, document]),
    thinking: () => body(words, { thinking: { type: 'enabled', budget_tokens: 10_000 } }),
    structured: () => body(words, { output_config: { format: { type: 'json_schema', schema } } }),
    marked: () => body(words, { system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }] }),
    citing: () => body([text, { ...document, citations: { enabled: true } }]),
  };
}

function generateContent(): Asker {
  const body = (parts: object[], more: object = {}): object => ({
    systemInstruction: { parts: [{ text: system }] },
    contents: [{ role: 'user', parts: [{ text: words }, ...parts] }],
    ...more,
  });
  return {
    text: () => body([]),
    tools: (history) => ({
      ...body([]),
      contents: [
        { role: 'user', parts: [{ text: words }] },
        { role: 'model', parts: history.map(({ id, input }) => ({ functionCall: { id, name: weather.name, args: input } })) },
        { role: 'user', parts: history.map(({ id, result }) => ({ functionResponse: { id, name: weather.name, response: { output: result } } })) },
      ],
      tools: [{ functionDeclarations: [{ name: weather.name, description: weather.description, parameters: weather.schema }] }],
    }),
    image: () => body([{ inlineData: { mimeType: 'image/png', data: png } }]),
    document: () => body([{ inlineData: { mimeType: 'application/pdf', data: pdf } }]),
    thinking: () => body([], { generationConfig: { thinkingConfig: { thinkingBudget: 8192, includeThoughts: true } } }),
    structured: () => body([], { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } }),
    marked: () => null,
    citing: () => null,
  };
}

const askers: Readonly<Record<string, Asker>> = { alpha: chatCompletions(), alpha_response: responses(), beta: messages(), gamma: generateContent() };

/** By the client protocol's id. */
export function askerOf(client: string): Asker {
  const asker = Object.hasOwn(askers, client) ? askers[client] : undefined;
  if (!asker) throw new Error(`no bodies are written for callers of ${client}`);
  return asker;
}

export const historyOfOne = calls.slice(0, 1);
export const historyOfTwo = calls;
/** What a body must still hold of each ask, however it is worded there. */
export const traces = { text: [words, system], one: [weather.name, 'place', 'Paris', '21 °C'], two: ['Paris', '21 °C', 'Oslo', '4 °C'] };
