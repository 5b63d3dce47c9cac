/** What callers of messages send: the SDKs, Claude Code and other agents. */
import { type Ask, cached, citing, type Json, oddSchemas, rootChoices, single } from '../ask.ts';
import { jpeg, mark, pdf, png } from '../facts.ts';

const text = (value = mark('text')): Json => ({ type: 'text', text: value });
const user = (content: Json = mark('text')): Json => ({ role: 'user', content });
const said = (content: Json = mark('text')): Json => ({ role: 'assistant', content });
const image = (data = png(), media_type = 'image/png'): Json => ({ type: 'image', source: { type: 'base64', media_type, data } });
const tool = (name = mark('toolname'), input_schema: Json = { type: 'object', properties: { [mark('param')]: { type: 'string' } } }): Json => ({
  ...{ name, description: mark('tooldesc') },
  input_schema,
});
const use = (id: string, name: string, input: Json = { q: mark('arg') }): Json => ({ type: 'tool_use', id, name, input });
const result = (id: string, content: Json = mark('result'), more: Json = {}): Json => ({ type: 'tool_result', tool_use_id: id, content, ...more });
const ask = (messages: Json[], more: Json = {}): Json => ({ max_tokens: 4324, messages, ...more });
const loop = (build: (name: string) => Json[], more: Json = {}): Json => {
  const name = mark('toolname');
  return ask([user(), ...build(name)], { tools: [tool(name)], ...more });
};
const ephemeral = { cache_control: { type: 'ephemeral' } };

export const messages: readonly Ask[] = [
  { name: 'a question', body: ask([user()]) },
  { name: 'system text', body: ask([user()], { system: mark('system') }) },
  {
    name: 'system parts with marks',
    body: ask([user([{ ...text(), ...ephemeral }])], { system: [{ ...text(mark('system')), ...ephemeral }, text(mark('system'))] }),
    also: [cached],
  },
  { name: 'lasting marks on tools', body: ask([user()], { tools: [tool(), { ...tool(), cache_control: { type: 'ephemeral', ttl: '1h' } }] }), also: [cached] },
  { name: 'parts', body: ask([user([text(), text()]), said([text(), text()]), user()]) },
  { name: 'sampling', body: ask([user()], { temperature: 0.733, top_k: 37, stop_sequences: [mark('stop'), mark('stop')] }) },
  { name: 'the other sampling', body: ask([user()], { top_p: 0.915 }) },
  { name: 'who asks', body: ask([user()], { metadata: { user_id: `user_${mark('user')}` }, service_tier: 'auto' }) },
  { name: 'a long user id of an agent', body: ask([user()], { metadata: { user_id: `user_${'a'.repeat(64)}_account__session_${'b'.repeat(36)}` } }) },
  { name: 'an image', body: ask([user([image(), text()])]) },
  { name: 'a JPEG', body: ask([user([image(jpeg(), 'image/jpeg'), text()])]) },
  { name: 'an image by address', body: ask([user([{ type: 'image', source: { type: 'url', url: `https://img.test/${mark('image')}.png` } }, text()])]) },
  {
    name: 'a PDF with title and context',
    body: ask([
      user([
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf() }, title: mark('title'), context: mark('context') },
        text(),
      ]),
    ]),
  },
  {
    name: 'a document as text',
    body: ask([user([{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: mark('text') }, title: mark('title') }, text()])]),
  },
  {
    name: 'documents to be cited',
    body: ask([
      user([
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: mark('text') }, title: mark('title'), citations: { enabled: true } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf() }, citations: { enabled: true } },
        text(),
      ]),
    ]),
    also: [citing],
  },
  {
    name: 'a search result, in the turn and from a tool',
    body: ask([
      user([{ type: 'search_result', source: `https://s.test/${mark('text')}`, title: mark('title'), content: [text()] }, text()]),
      said([{ type: 'tool_use', id: 'toolu_found', name: 'look', input: {} }]),
      user([
        {
          type: 'tool_result',
          tool_use_id: 'toolu_found',
          content: [{ type: 'search_result', source: 'https://s.test', title: mark('title'), content: [text()] }],
        },
      ]),
    ]),
  },
  { name: 'tools', body: ask([user()], { tools: [tool(), tool()], tool_choice: { type: 'auto', disable_parallel_tool_use: true } }), also: [single] },
  {
    name: 'a tool that must be called',
    body: (() => {
      const name = mark('toolname');
      return ask([user()], { tools: [tool(name), tool()], tool_choice: { type: 'tool', name } });
    })(),
  },
  { name: 'some tool must be called', body: ask([user()], { tools: [tool()], tool_choice: { type: 'any' } }) },
  { name: 'no tool may be called', body: ask([user()], { tools: [tool()], tool_choice: { type: 'none' } }) },
  { name: 'a name of 100 characters', body: ask([user()], { tools: [tool(`${mark('toolname')}${'_x'.repeat(42)}`)] }) },
  { name: 'a call and its result', body: loop((name) => [said([text(), use('toolu_a', name)]), user([result('toolu_a')])]) },
  { name: 'a result and more text', body: loop((name) => [said([use('toolu_a', name)]), user([result('toolu_a'), text()])]) },
  { name: 'parallel calls', body: loop((name) => [said([use('toolu_a', name), use('toolu_b', name)]), user([result('toolu_b'), result('toolu_a')])]) },
  { name: 'an error as result', body: loop((name) => [said([use('toolu_a', name)]), user([result('toolu_a', undefined, { is_error: true })])]) },
  {
    name: 'an image in a result',
    body: loop((name) => [said([use('toolu_a', name)]), user([result('toolu_a', [text(mark('result')), image()])]), said(), user()]),
  },
  { name: 'a result of an image alone', body: loop((name) => [said([use('toolu_a', name)]), user([result('toolu_a', [image()]), text()])]) },
  { name: 'an empty result', body: loop((name) => [said([use('toolu_a', name)]), user([{ type: 'tool_result', tool_use_id: 'toolu_a' }])]) },
  { name: 'a long loop', body: loop((name) => [1, 2, 3].flatMap((n) => [said([use(`toolu_${n}`, name)]), user([result(`toolu_${n}`)])])) },
  { name: 'a budget of thinking', body: ask([user()], { thinking: { type: 'enabled', budget_tokens: 2049 } }) },
  { name: 'no thinking', body: ask([user()], { thinking: { type: 'disabled' } }) },
  { name: 'adaptive thinking', body: ask([user()], { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } }) },
  {
    name: 'a budget in a loop of another vendor',
    body: loop((name) => [said([use('toolu_a', name)]), user([result('toolu_a')])], { thinking: { type: 'enabled', budget_tokens: 2050 } }),
  },
  {
    name: 'thinking of another account',
    body: ask([user(), said([{ type: 'thinking', thinking: mark('thought'), signature: 'ErUBothers' }, text()]), user()]),
  },
  { name: 'redacted thinking', body: ask([user(), said([{ type: 'redacted_thinking', data: mark('signature') }, text()]), user()]) },
  {
    name: 'thinking before a call',
    body: loop((name) => [said([{ type: 'thinking', thinking: mark('thought'), signature: 'ErUBothers' }, use('toolu_a', name)]), user([result('toolu_a')])], {
      thinking: { type: 'enabled', budget_tokens: 2051 },
    }),
  },
  {
    name: 'a schema',
    body: ask([user()], {
      output_config: {
        format: {
          type: 'json_schema',
          schema: { type: 'object', properties: { [mark('schema')]: { type: 'string' } }, required: [], additionalProperties: false },
        },
      },
    }),
  },
  ...Object.entries({ ...oddSchemas(() => mark('param')), ...rootChoices(() => mark('param')) }).map(
    ([name, parameters]): Ask => ({ name: `a tool: ${name}`, body: ask([user()], { tools: [tool(undefined, parameters)] }) }),
  ),
  { name: 'calls without tools', body: ask([user(), said([use('toolu_a', 'forgotten')]), user([result('toolu_a')])]) },
  { name: 'a begun reply', body: ask([user(), said()]) },
  { name: 'an assistant first', body: ask([said(), user()]) },
  { name: 'a server tool of the vendor', body: ask([user()], { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }, tool()] }) },
  { name: 'a client tool that the vendor’s models know', body: ask([user()], { tools: [{ type: 'bash_20250124', name: 'bash' }] }) },
  { name: 'system text between turns', body: ask([user(), said(), { role: 'system', content: mark('system') }, user()]) },
];
