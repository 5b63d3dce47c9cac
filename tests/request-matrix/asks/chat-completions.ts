/** What callers of chat completions send. All of it is legal at that vendor's own models that take it. */
import { type Ask, type Json, oddSchemas, rootChoices, single } from '../ask.ts';
import { jpeg, mark, pdf, png, sound } from '../facts.ts';

const user = (content: Json = mark('text')): Json => ({ role: 'user', content });
const text = (): Json => ({ type: 'text', text: mark('text') });
const image = (url = `data:image/png;base64,${png()}`, detail?: string): Json => ({ type: 'image_url', image_url: { url, ...(detail && { detail }) } });
const tool = (
  name = mark('toolname'),
  parameters: Json = { type: 'object', properties: { [mark('param')]: { type: 'string', description: mark('param') } } },
): Json => ({
  type: 'function',
  function: { name, description: mark('tooldesc'), parameters },
});
const call = (id: string, name: string, args: Json = { q: mark('arg') }): Json => ({
  id,
  type: 'function',
  function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
});
const calling = (...calls: Json[]): Json => ({ role: 'assistant', content: null, tool_calls: calls });
const result = (id: string, content: Json = mark('result')): Json => ({ role: 'tool', tool_call_id: id, content });
const schema = (): Json => ({ type: 'object', properties: { [mark('schema')]: { type: 'string' }, n: { type: 'integer', minimum: 1 } }, required: ['n'] });
const format = (json: Json): Json => ({ type: 'json_schema', json_schema: { name: 'answer', schema: json } });

/** A loop of one function, whose name stands in tools and calls. */
function loop(build: (name: string) => Json[], more: Json = {}): Json {
  const name = mark('toolname');
  return { messages: [user(), ...build(name)], tools: [tool(name)], ...more };
}

export const chatCompletions: readonly Ask[] = [
  { name: 'a question', body: { messages: [user()] } },
  { name: 'system text', body: { messages: [{ role: 'system', content: mark('system') }, user()] } },
  {
    name: 'system parts and a developer',
    body: {
      messages: [
        {
          role: 'system',
          content: [
            { type: 'text', text: mark('system') },
            { type: 'text', text: mark('system') },
          ],
        },
        { role: 'developer', content: mark('system') },
        user(),
      ],
    },
  },
  {
    name: 'system text between turns',
    body: { messages: [user(), { role: 'assistant', content: mark('text') }, { role: 'system', content: mark('system') }, user()] },
  },
  {
    name: 'turns in a row',
    body: { messages: [user(), user(), { role: 'assistant', content: mark('text') }, { role: 'assistant', content: mark('text') }, user()] },
  },
  { name: 'text parts', body: { messages: [user([text(), text()])] } },
  { name: 'names of speakers', body: { messages: [{ ...user(), name: mark('speaker') }] } },
  {
    name: 'sampling',
    body: {
      messages: [user()],
      temperature: 0.731,
      top_p: 0.913,
      seed: 770_001,
      presence_penalty: 0.37,
      frequency_penalty: 0.41,
      stop: [mark('stop'), mark('stop')],
      max_tokens: 4321,
    },
  },
  { name: 'a high temperature', body: { messages: [user()], temperature: 1.83 } },
  { name: 'the newer limit', body: { messages: [user()], max_completion_tokens: 4322 } },
  { name: 'probabilities', body: { messages: [user()], logprobs: true, top_logprobs: 3 } },
  { name: 'bias and several choices', body: { messages: [user()], logit_bias: { 50256: -17 }, n: 2 } },
  { name: 'who asks', body: { messages: [user()], user: `${mark('user')}`, metadata: { key: mark('meta') }, store: false, service_tier: 'auto' } },
  { name: 'an e-mail address as user', body: { messages: [user()], user: `${mark('user')}@example.com` } },
  { name: 'both ids of a user', body: { messages: [user()], user: mark('user'), safety_identifier: mark('user'), prompt_cache_key: mark('cachekey') } },
  { name: 'an image', body: { messages: [user([text(), image(undefined, 'high')])] } },
  { name: 'image/jpg', body: { messages: [user([text(), image(`data:image/jpg;base64,${jpeg()}`)])] } },
  { name: 'an image by address', body: { messages: [user([text(), image(`https://img.test/${mark('image')}.png`)])] } },
  { name: 'images in the history', body: { messages: [user([image(), text()]), { role: 'assistant', content: mark('text') }, user()] } },
  {
    name: 'a PDF',
    body: { messages: [user([text(), { type: 'file', file: { filename: `${mark('filename')}.pdf`, file_data: `data:application/pdf;base64,${pdf()}` } }])] },
  },
  { name: 'sound', body: { messages: [user([text(), { type: 'input_audio', input_audio: { data: sound(), format: 'wav' } }])] } },
  { name: 'tools', body: { messages: [user()], tools: [tool(), tool()] } },
  {
    name: 'a tool that must be called',
    body: (() => {
      const name = mark('toolname');
      return { messages: [user()], tools: [tool(name), tool()], tool_choice: { type: 'function', function: { name } } };
    })(),
  },
  { name: 'some tool must be called', body: { messages: [user()], tools: [tool()], tool_choice: 'required' } },
  { name: 'no tool may be called', body: { messages: [user()], tools: [tool()], tool_choice: 'none' } },
  { name: 'one call at most', body: { messages: [user()], tools: [tool()], parallel_tool_calls: false }, also: [single] },
  { name: 'a long name of a tool', body: { messages: [user()], tools: [tool(`${mark('toolname')}_${'y'.repeat(40)}`)] } },
  { name: 'a call and its result', body: loop((name) => [calling(call('call_abc1', name)), result('call_abc1')]) },
  { name: 'a call beside text', body: loop((name) => [{ ...calling(call('call_abc1', name)), content: mark('text') }, result('call_abc1'), user()]) },
  { name: 'parallel calls', body: loop((name) => [calling(call('call_a', name), call('call_b', name)), result('call_a'), result('call_b')]) },
  { name: 'results in another order', body: loop((name) => [calling(call('call_a', name), call('call_b', name)), result('call_b'), result('call_a'), user()]) },
  {
    name: 'calls in two turns',
    body: loop((name) => [
      calling(call('call_a', name)),
      result('call_a'),
      calling(call('call_b', name)),
      result('call_b'),
      { role: 'assistant', content: mark('text') },
      user(),
    ]),
  },
  {
    name: 'parts as a result',
    body: loop((name) => [
      calling(call('call_a', name)),
      result('call_a', [
        { type: 'text', text: mark('result') },
        { type: 'text', text: mark('result') },
      ]),
    ]),
  },
  { name: 'an empty result', body: loop((name) => [calling(call('call_a', name)), result('call_a', ''), user()]) },
  { name: 'no arguments', body: loop((name) => [calling(call('call_a', name, '')), result('call_a')]) },
  { name: 'JSON mode', body: { messages: [user(`JSON: ${mark('text')}`)], response_format: { type: 'json_object' } } },
  { name: 'a schema', body: { messages: [user()], response_format: format(schema()) } },
  {
    name: 'a strict schema',
    body: {
      messages: [user()],
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'answer',
          strict: true,
          schema: { type: 'object', properties: { [mark('schema')]: { type: 'string' } }, required: [], additionalProperties: false },
        },
      },
    },
  },
  {
    name: 'a schema with a map',
    body: {
      messages: [user()],
      response_format: format({ type: 'object', properties: { [mark('schema')]: { type: 'object', additionalProperties: { type: 'string' } } } }),
    },
  },
  { name: 'a schema beside tools', body: { messages: [user()], tools: [tool()], response_format: format(schema()) } },
  { name: 'effort', body: { messages: [user()], reasoning_effort: 'medium', max_completion_tokens: 9000 } },
  { name: 'little effort with sampling', body: { messages: [user()], reasoning_effort: 'low', temperature: 0.311 } },
  { name: 'effort and a forced call', body: { messages: [user()], tools: [tool()], tool_choice: 'required', reasoning_effort: 'high' } },
  { name: 'effort in a loop', body: loop((name) => [calling(call('call_a', name)), result('call_a')], { reasoning_effort: 'high' }) },
  {
    name: 'reasoning of another vendor in the history',
    body: { messages: [user(), { role: 'assistant', content: mark('text'), reasoning_content: mark('thought') }, user()] },
  },
  { name: 'reasoning before calls', body: loop((name) => [{ ...calling(call('call_a', name)), reasoning_content: mark('thought') }, result('call_a')]) },
  { name: 'a refusal in the history', body: { messages: [user(), { role: 'assistant', content: null, refusal: mark('refusal') }, user()] } },
  { name: 'the vendor’s own search', body: { messages: [user()], web_search_options: { search_context_size: 'low' } } },
  {
    name: 'empty lists and nulls',
    body: {
      messages: [user(), { role: 'assistant', content: mark('text'), refusal: null, annotations: [] }, user()],
      stop: null,
      tools: undefined,
      user: null,
    },
  },
  ...Object.entries({ ...oddSchemas(() => mark('param')), ...rootChoices(() => mark('param')) }).map(
    ([name, parameters]): Ask => ({ name: `a tool: ${name}`, body: { messages: [user()], tools: [tool(undefined, parameters)] } }),
  ),
  // What older servers, editors and agents send all the same.
  { name: 'two calls under one id', body: loop((name) => [calling(call('c', name), call('c', name)), result('c'), result('c')]) },
  { name: 'one id in two turns', body: loop((name) => [calling(call('c', name)), result('c'), calling(call('c', name)), result('c')]) },
  {
    name: 'a call without its result',
    body: loop((name) => [calling(call('call_a', name), call('call_b', name)), result('call_a'), user()]),
    incomplete: true,
  },
  { name: 'a result without its call', body: { messages: [user(), result('call_lost'), user()] }, incomplete: true },
  { name: 'an id of 90 characters', body: loop((name) => [calling(call(`call_${'z'.repeat(85)}`, name)), result(`call_${'z'.repeat(85)}`)]) },
  { name: 'broken arguments', body: loop((name) => [calling(call('call_a', name, `{"q":"${mark('arg')}`)), result('call_a')]) },
  {
    name: 'calls without tools',
    body: (() => {
      const name = mark('toolname');
      return { messages: [user(), calling(call('call_a', name)), result('call_a')] };
    })(),
  },
  { name: 'a begun reply', body: { messages: [user(), { role: 'assistant', content: mark('text') }] } },
  { name: 'an empty assistant turn', body: { messages: [user(), { role: 'assistant', content: '' }, user()] } },
];
