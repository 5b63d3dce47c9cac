/** What callers of generate-content send: the SDKs in both spellings, Gemini CLI. */
import { type Ask, type Json, oddSchemas, rootChoices } from '../ask.ts';
import { mark, pdf, png, sound } from '../facts.ts';

const user = (...parts: Json[]): Json => ({ role: 'user', parts: parts.length > 0 ? parts : [{ text: mark('text') }] });
const model = (...parts: Json[]): Json => ({ role: 'model', parts: parts.length > 0 ? parts : [{ text: mark('text') }] });
const text = (): Json => ({ text: mark('text') });
const declared = (name = mark('toolname'), parameters: Json = { type: 'OBJECT', properties: { [mark('param')]: { type: 'STRING' } } }): Json => ({
  name,
  description: mark('tooldesc'),
  parameters,
});
const functions = (...list: Json[]): Json => ({ tools: [{ functionDeclarations: list }] });
const call = (name: string, more: Json = {}): Json => ({ functionCall: { name, args: { q: mark('arg') } }, ...more });
const response = (name: string, value: Json = { result: mark('result') }): Json => ({ functionResponse: { name, response: value } });
const loop = (build: (name: string) => Json[], more: Json = {}): Json => {
  const name = mark('toolname');
  return { contents: [user(), ...build(name)], ...functions(declared(name)), ...more };
};
const config = (generationConfig: Json): Json => ({ contents: [user()], generationConfig });

export const generateContent: readonly Ask[] = [
  { name: 'a question', body: { contents: [user()] } },
  { name: 'a question without a role', body: { contents: [{ parts: [text()] }] } },
  { name: 'system text in parts', body: { systemInstruction: { parts: [{ text: mark('system') }, { text: mark('system') }] }, contents: [user()] } },
  {
    name: 'the other spelling',
    body: { system_instruction: { parts: [{ text: mark('system') }] }, contents: [user()], generation_config: { max_output_tokens: 4325 } },
  },
  { name: 'turns', body: { contents: [user(), model(text(), text()), user(), user()] } },
  {
    name: 'sampling',
    body: config({
      temperature: 0.734,
      topP: 0.916,
      topK: 38,
      seed: 770_002,
      maxOutputTokens: 4326,
      stopSequences: [mark('stop')],
      presencePenalty: 0.38,
      frequencyPenalty: 0.42,
    }),
  },
  { name: 'a high temperature', body: config({ temperature: 1.84 }) },
  { name: 'a budget of thinking', body: config({ thinkingConfig: { thinkingBudget: 2052, includeThoughts: true }, maxOutputTokens: 9002 }) },
  { name: 'no thinking', body: config({ thinkingConfig: { thinkingBudget: 0 } }) },
  { name: 'a level of thinking', body: config({ thinkingConfig: { thinkingLevel: 'LOW' } }) },
  { name: 'an image', body: { contents: [user(text(), { inlineData: { mimeType: 'image/png', data: png() } })] } },
  { name: 'an image in the other spelling', body: { contents: [user(text(), { inline_data: { mime_type: 'image/png', data: png() } })] } },
  { name: 'a PDF', body: { contents: [user(text(), { inlineData: { mimeType: 'application/pdf', data: pdf() } })] } },
  { name: 'sound', body: { contents: [user(text(), { inlineData: { mimeType: 'audio/wav', data: sound() } })] } },
  { name: 'a file by address', body: { contents: [user(text(), { fileData: { mimeType: 'image/png', fileUri: `https://img.test/${mark('image')}.png` } })] } },
  { name: 'functions', body: { contents: [user()], ...functions(declared(), declared()) } },
  { name: 'functions in two tools', body: { contents: [user()], tools: [{ functionDeclarations: [declared()] }, { functionDeclarations: [declared()] }] } },
  {
    name: 'a function that must be called',
    body: (() => {
      const name = mark('toolname');
      return {
        contents: [user()],
        ...functions(declared(name), declared()),
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [name] } },
      };
    })(),
  },
  { name: 'some function must be called', body: { contents: [user()], ...functions(declared()), toolConfig: { functionCallingConfig: { mode: 'ANY' } } } },
  { name: 'no function may be called', body: { contents: [user()], ...functions(declared()), toolConfig: { functionCallingConfig: { mode: 'NONE' } } } },
  { name: 'a name with a dot', body: { contents: [user()], ...functions(declared(`${mark('toolname')}.read`)) } },
  { name: 'a call and its response', body: loop((name) => [model(call(name)), user(response(name))]) },
  {
    name: 'a call with its id',
    body: loop((name) => [
      model({ functionCall: { id: 'fc1', name, args: { q: mark('arg') } } }),
      user({ functionResponse: { id: 'fc1', name, response: { output: mark('result') } } }),
    ]),
  },
  { name: 'parallel calls of one function', body: loop((name) => [model(call(name), call(name)), user(response(name), response(name))]) },
  {
    name: 'a call with the word for no proof',
    body: loop((name) => [model(call(name, { thoughtSignature: 'skip_thought_signature_validator' })), user(response(name))]),
  },
  { name: 'a call with a proof of another account', body: loop((name) => [model(call(name, { thoughtSignature: 'CiQBothers' })), user(response(name))]) },
  { name: 'responses of the role function', body: loop((name) => [model(call(name)), { role: 'function', parts: [response(name)] }]) },
  { name: 'a response and more text', body: loop((name) => [model(call(name)), user(response(name), text())]) },
  { name: 'an error as response', body: loop((name) => [model(call(name)), user(response(name, { error: mark('result') }))]) },
  { name: 'thoughts in the history', body: { contents: [user(), model({ text: mark('thought'), thought: true }, text()), user()] } },
  { name: 'JSON', body: config({ responseMimeType: 'application/json' }) },
  {
    name: 'a schema',
    body: config({
      responseMimeType: 'application/json',
      responseSchema: {
        type: 'OBJECT',
        properties: { [mark('schema')]: { type: 'STRING', enum: ['a', 'b'], nullable: true }, n: { type: 'INTEGER', format: 'int32' } },
        propertyOrdering: ['n'],
      },
    }),
  },
  {
    name: 'a JSON schema',
    body: config({ responseMimeType: 'application/json', responseJsonSchema: { type: 'object', properties: { [mark('schema')]: { type: 'string' } } } }),
  },
  {
    name: 'who asks',
    body: { contents: [user()], labels: { key: mark('meta') }, safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }] },
  },
  ...Object.entries({ ...oddSchemas(() => mark('param')), ...rootChoices(() => mark('param')) }).map(
    ([name, schema]): Ask => ({
      name: `a function: ${name}`,
      body: { contents: [user()], ...functions({ name: mark('toolname'), description: mark('tooldesc'), parametersJsonSchema: schema }) },
    }),
  ),
  { name: 'a function without arguments', body: { contents: [user()], ...functions({ name: mark('toolname'), description: mark('tooldesc') }) } },
  { name: 'the vendor’s own search', body: { contents: [user()], tools: [{ googleSearch: {} }] } },
  { name: 'calls without functions', body: { contents: [user(), model(call('forgotten')), user(response('forgotten'))] } },
  { name: 'a begun reply', body: { contents: [user(), model()] } },
  { name: 'a model first', body: { contents: [model(), user()] } },
];
