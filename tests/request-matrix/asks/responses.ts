/** What callers of Responses send: the SDKs, Codex, agents. */
import { type Ask, type Json, oddSchemas, rootChoices, single } from '../ask.ts';
import { mark, pdf, png } from '../facts.ts';

const user = (content: Json = mark('text')): Json => ({ role: 'user', content });
const input = (text = mark('text')): Json => ({ type: 'input_text', text });
const image = (url = `data:image/png;base64,${png()}`): Json => ({ type: 'input_image', image_url: url, detail: 'auto' });
const said = (text = mark('text')): Json => ({
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const tool = (name = mark('toolname'), parameters: Json = { type: 'object', properties: { [mark('param')]: { type: 'string' } } }): Json => ({
  ...{ type: 'function', name, description: mark('tooldesc'), strict: false },
  parameters,
});
const call = (id: string, name: string, args: Json = { q: mark('arg') }): Json => ({
  type: 'function_call',
  call_id: id,
  name,
  arguments: JSON.stringify(args),
});
const output = (id: string, value: Json = mark('result')): Json => ({ type: 'function_call_output', call_id: id, output: value });
const loop = (build: (name: string) => Json[], more: Json = {}): Json => {
  const name = mark('toolname');
  return { input: [user(), ...build(name)], tools: [tool(name)], ...more };
};

export const responses: readonly Ask[] = [
  { name: 'a text', body: { input: mark('text') } },
  { name: 'instructions', body: { instructions: mark('system'), input: [user()] } },
  {
    name: 'instructions and developers',
    body: { instructions: mark('system'), input: [{ role: 'developer', content: mark('system') }, user([input(), input()])] },
  },
  { name: 'an earlier answer', body: { input: [user(), said(), user()] } },
  { name: 'sampling', body: { input: mark('text'), temperature: 0.732, top_p: 0.914, max_output_tokens: 4323 } },
  {
    name: 'who asks',
    body: {
      input: mark('text'),
      user: mark('user'),
      safety_identifier: mark('user'),
      prompt_cache_key: mark('cachekey'),
      metadata: { key: mark('meta') },
      store: false,
    },
  },
  { name: 'a telephone number as user', body: { input: mark('text'), user: '+49 170 1234567' } },
  { name: 'an image', body: { input: [user([input(), image()])] } },
  { name: 'an image by address', body: { input: [user([input(), image(`https://img.test/${mark('image')}.png`)])] } },
  {
    name: 'a PDF',
    body: { input: [user([input(), { type: 'input_file', filename: `${mark('filename')}.pdf`, file_data: `data:application/pdf;base64,${pdf()}` }])] },
  },
  { name: 'tools', body: { input: mark('text'), tools: [tool(), tool()], tool_choice: 'auto', parallel_tool_calls: false }, also: [single] },
  {
    name: 'a tool that must be called',
    body: (() => {
      const name = mark('toolname');
      return { input: mark('text'), tools: [tool(name), tool()], tool_choice: { type: 'function', name } };
    })(),
  },
  { name: 'some tool must be called', body: { input: mark('text'), tools: [tool()], tool_choice: 'required' } },
  {
    name: 'tools of which some may be called',
    body: (() => {
      const name = mark('toolname');
      return { input: mark('text'), tools: [tool(name)], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name }] } };
    })(),
  },
  {
    name: 'a free-text tool',
    body: {
      input: mark('text'),
      tools: [
        {
          type: 'custom',
          name: mark('toolname'),
          description: mark('tooldesc'),
          format: { type: 'grammar', syntax: 'lark', definition: `start: "${mark('param')}"` },
        },
      ],
    },
  },
  {
    name: 'a call of a free-text tool',
    body: (() => {
      const name = mark('toolname');
      return {
        input: [
          user(),
          { type: 'custom_tool_call', call_id: 'call_f', name, input: mark('arg') },
          { type: 'custom_tool_call_output', call_id: 'call_f', output: mark('result') },
        ],
        tools: [{ type: 'custom', name }],
      };
    })(),
  },
  { name: 'a namespace of tools', body: { input: mark('text'), tools: [{ type: 'namespace', name: 'files', description: 'Files', tools: [tool()] }] } },
  { name: 'a call and its output', body: loop((name) => [call('call_a', name), output('call_a')]) },
  { name: 'parallel calls', body: loop((name) => [call('call_a', name), call('call_b', name), output('call_a'), output('call_b')]) },
  { name: 'text, calls, outputs, text', body: loop((name) => [said(), call('call_a', name), output('call_a'), said(), user()]) },
  { name: 'parts as output', body: loop((name) => [call('call_a', name), output('call_a', [input(mark('result')), image()])]) },
  { name: 'JSON mode', body: { input: `JSON: ${mark('text')}`, text: { format: { type: 'json_object' } } } },
  {
    name: 'a schema',
    body: {
      input: mark('text'),
      text: {
        format: {
          type: 'json_schema',
          name: 'answer',
          strict: false,
          schema: { type: 'object', properties: { [mark('schema')]: { type: 'string', format: 'uri-reference' } } },
        },
      },
    },
  },
  { name: 'verbosity', body: { input: mark('text'), text: { verbosity: 'low' } } },
  { name: 'effort and a summary', body: { input: mark('text'), reasoning: { effort: 'medium', summary: 'auto' }, include: ['reasoning.encrypted_content'] } },
  { name: 'effort in a loop', body: loop((name) => [call('call_a', name), output('call_a')], { reasoning: { effort: 'high' }, max_output_tokens: 9001 }) },
  {
    name: 'reasoning of another account',
    body: {
      input: [
        user(),
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: mark('thought') }], encrypted_content: 'gAAAAABhotherswords' },
        said(),
        user(),
      ],
      store: false,
    },
  },
  { name: 'commentary and an answer', body: { input: [user(), { ...said(), phase: 'commentary' }, { ...said(), phase: 'final_answer' }, user()] } },
  { name: 'a refusal in the history', body: { input: [user(), { role: 'assistant', content: [{ type: 'refusal', refusal: mark('refusal') }] }, user()] } },
  ...Object.entries({ ...oddSchemas(() => mark('param')), ...rootChoices(() => mark('param')) }).map(
    ([name, parameters]): Ask => ({ name: `a tool: ${name}`, body: { input: mark('text'), tools: [tool(undefined, parameters)] } }),
  ),
  { name: 'two calls under one id', body: loop((name) => [call('c', name), call('c', name), output('c'), output('c')]) },
  { name: 'one id in two turns', body: loop((name) => [call('c', name), output('c'), said(), user(), call('c', name), output('c')]) },
  { name: 'calls without tools', body: { input: [user(), call('call_a', 'forgotten'), output('call_a')] } },
  { name: 'a call without its output', body: loop((name) => [call('call_a', name), user()]), incomplete: true },
  { name: 'a begun reply', body: { input: [user(), said()] } },
];
