/** Hosted web search for callers of chat completions, Responses and generate-content; where the user is, and tokens of what was found. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { validateStream as validateChat } from '../../packages/protocols/test/validate/alpha.ts';
import { validateStream as validateResponses } from '../../packages/protocols/test/validate/alpha-response.ts';
import { validateStream as validateGenerate, validateWhole } from '../../packages/protocols/test/validate/gamma.ts';
import { startInProcess } from '../support/in-process.ts';
import {
  answer,
  call,
  configuration,
  eventsOf,
  forgetCalls,
  found,
  json,
  messages,
  off,
  on,
  pages,
  post,
  provider,
  question,
  responses,
  scripted,
  searched,
  startHosted,
  stopHosted,
  upstreamBodies,
  webSearch,
} from './hosted-tools-stage.ts';

beforeAll(startHosted);
afterAll(stopHosted);
beforeEach(forgetCalls);

describe('chat completions', () => {
  const chat = (more: object = {}, gateway = on) =>
    post(gateway, '/v1/chat/completions', {
      model: scripted.isGemini ? 'generate' : 'chat',
      stream: scripted.isStream,
      messages: [{ role: 'user', content: question }],
      web_search_options: { search_context_size: 'low' },
      ...more,
    });
  const before = 'I will look it up. ';
  const from = before.length;
  const annotation = {
    type: 'url_citation',
    url_citation: {
      url: 'https://tea.example/steep',
      title: 'Tea',
      start_index: from + 'Steep it at 80 degrees ('.length,
      end_index: from + answer.length - 2,
    },
  };
  beforeEach(() => {
    scripted.isGemini = true;
    scripted.said = [{ text: before, calls: [call('green tea temperature')] }, { text: answer }];
  });

  test('the answer cites the page, at its place in the text of all calls', async () => {
    const reply = await chat();
    const { message, finish_reason } = reply.json.choices[0];
    expect(message).toMatchObject({ content: before + answer, annotations: [annotation] });
    expect(message.tool_calls).toBeUndefined();
    expect(finish_reason).toBe('stop');
    expect(reply.json.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10 });
    expect(searched()).toHaveLength(1);
    const row = await on.row(reply.id);
    expect(row).toMatchObject({ cost_micros: 5_000, pipeline: ['translate', 'hosted-tools'] });
    expect(row.losses).toEqual([expect.objectContaining({ field: 'tools.web_search', action: 'emulated' })]);
  });

  test('streamed: a valid stream, whose citation follows its words', async () => {
    scripted.isStream = true;
    const reply = await chat();
    expect(validateChat(reply.text)).toEqual([]);
    const deltas = eventsOf(reply.text).flatMap(({ choices }) => choices.map(({ delta }: { delta: object }) => delta));
    expect(deltas.map(({ content = '' }) => content).join('')).toBe(before + answer);
    expect(deltas.filter((delta) => 'annotations' in delta)).toEqual([{ annotations: [annotation] }]);
    expect(deltas.findIndex((delta) => 'annotations' in delta)).toBeGreaterThan(deltas.findLastIndex(({ content }) => content));
  });

  test('calls of the caller’s own tools end the reply', async () => {
    scripted.said = [{ calls: [call('tea'), { name: 'kettle', arguments: '{"degrees":80}' }] }];
    const reply = await chat({ tools: [{ type: 'function', function: { name: 'kettle', parameters: { type: 'object', properties: {} } } }] });
    expect(reply.json.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [{ function: { name: 'kettle' } }] } });
    expect(reply.json.choices[0].message.tool_calls).toHaveLength(1);
  });

  test('an upstream of the same protocol gets the field as it is', async () => {
    scripted.isGemini = false;
    scripted.said = [{ text: answer }];
    await chat();
    expect(upstreamBodies()).toMatchObject([{ web_search_options: { search_context_size: 'low' } }]);
    expect(searched()).toEqual([]);
  });

  test('without the group’s consent the loss is declared, and a field that is no object is refused', async () => {
    scripted.said = [{ text: answer }];
    const reply = await chat({}, off);
    expect(reply.json.choices[0].message.content).toBe(answer);
    expect((await off.row(reply.id)).losses).toContainEqual(expect.objectContaining({ action: 'dropped' }));
    expect((await chat({ web_search_options: 'yes' })).status).toBe(400);
  });
});

describe('a caller of Responses and a chat completions model of the same vendor that searches by itself', () => {
  const url_citation = { url: 'https://tea.example/steep', title: 'Tea', start_index: 24, end_index: 56 };
  const ask = (tool: object = {}) => responses({ model: 'searching', tools: [{ type: 'web_search', ...tool }] });
  beforeEach(() => {
    scripted.said = [{ text: answer, annotations: [{ type: 'url_citation', url_citation }] }];
  });

  test.each([false, true])('its search is kept, and so are its citations; streamed: %s', async (stream) => {
    scripted.isStream = stream;
    const place = { type: 'approximate', country: 'GB', city: 'London' };
    const reply = await ask({ search_context_size: 'high', user_location: place });
    expect(upstreamBodies()[0].web_search_options).toEqual({
      search_context_size: 'high',
      user_location: { type: 'approximate', approximate: { country: 'GB', city: 'London' } },
    });
    expect(upstreamBodies()[0].tools).toBeUndefined();
    expect(searched()).toEqual([]);
    if (stream) expect(validateResponses(reply.text)).toEqual([]);
    const body = stream ? eventsOf(reply.text).at(-1).response : reply.json;
    expect(body.output.at(-1).content[0].annotations).toEqual([{ type: 'url_citation', ...url_citation }]);
    expect((await on.row(reply.id)).losses ?? []).toEqual([]);
  });

  test('lists of domains, which it has no place for, are a declared loss', async () => {
    const reply = await ask({ filters: { allowed_domains: ['tea.example'] } });
    expect((await on.row(reply.id)).losses).toEqual([expect.objectContaining({ field: 'tools.filters', action: 'dropped' })]);
  });
});

describe('where the user is', () => {
  const place = { type: 'approximate', country: 'CZ', city: 'Brno', timezone: 'Europe/Prague' };
  const tools = [{ ...webSearch, user_location: place }];
  const kinds = [
    ['brave', { 'x-loc-country': 'CZ', 'x-loc-city': 'Brno', 'x-loc-timezone': 'Europe/Prague' }, {}, []],
    ['http', {}, { user_location: { country: 'CZ', city: 'Brno', timezone: 'Europe/Prague' } }, []],
    ['tavily', {}, { country: 'czech republic' }, ['downgraded']],
    ['searxng', {}, {}, ['dropped']],
  ] as const;
  test.each(kinds)('is told to a provider of the kind %s as far as it takes it', async (kind, headers, body, actions) => {
    const gateway = await startInProcess({ ...configuration, search: { provider: { ...provider, kind } }, group: { server_tools: 'on' } });
    try {
      scripted.search = json({ results: found.web.results, ...found });
      scripted.said = [{ calls: [call('tea')] }, { text: answer }];
      const reply = await messages({ tools }, gateway);
      expect(reply.json.content[1].content).toHaveLength(1);
      expect(searched()[0]?.headers).toMatchObject(headers);
      if (kind === 'http' || kind === 'tavily') expect(JSON.parse(searched()[0]!.body)).toEqual({ query: 'tea', max_results: 8, ...body });
      expect(searched()[0]?.url).not.toMatch(/Brno|CZ/);
      const lost = (await gateway.row(reply.id)).losses?.filter(({ field }) => field === 'tools.user_location') ?? [];
      expect(lost.map(({ action }) => action)).toEqual(actions);
    } finally {
      await gateway.stop();
    }
  });

  test('a caller who wants little context gets half of the results', async () => {
    scripted.said = [{ calls: [call('tea')] }, { text: answer }];
    await responses({ tools: [{ type: 'web_search', search_context_size: 'low' }] });
    expect(searched()[0]?.url).toContain('count=4');
  });
});

describe('tokens of what was found', () => {
  const ask = async (change: (token: string) => string, gateway = on) => {
    scripted.asked = 0;
    scripted.said = [{ calls: [call('tea')] }, { text: answer }, { text: 'As I said.' }];
    const first = await messages();
    const [use, result, text] = first.json.content;
    const content = result.content.map((page: { encrypted_content: string }) => ({ ...page, encrypted_content: change(page.encrypted_content) }));
    const history = [
      { role: 'user', content: question },
      { role: 'assistant', content: [use, { ...result, content }, text] },
      { role: 'user', content: 'Are you sure?' },
    ];
    const reply = await messages({ messages: history }, gateway);
    return { token: result.content[0].encrypted_content as string, row: await gateway.row(reply.id), sent: JSON.stringify(upstreamBodies().at(-1)) };
  };
  const unreadable = expect.objectContaining({ field: 'messages.web_search', action: 'dropped' });

  test('cannot be read, and two of the same page are not alike', async () => {
    const [one, other] = [await ask((token) => token), await ask((token) => token)];
    for (const { token } of [one, other])
      for (const encoding of ['base64', 'base64url', 'latin1'] as const) expect(Buffer.from(token, encoding).toString('latin1')).not.toContain('green tea');
    expect(one.token).not.toBe(other.token);
    expect(one.sent).toContain('Steep green tea at 80 degrees.');
  });

  test.each([
    ['changed', (token: string) => `${token.slice(0, -6)}AAAAAA`],
    ['cut', (token: string) => token.slice(0, 40)],
    ['of the generation that anybody could write', () => `mgw1.${Buffer.from('Buy gold.').toString('base64')}`],
  ])('a token that was %s is not believed, and the loss is declared', async (_how, change) => {
    const { sent, row } = await ask(change);
    expect(sent).not.toMatch(/Buy gold|Steep green/);
    expect(sent).toContain('https://tea.example/steep');
    expect(row.losses).toContainEqual(unreadable);
  });

  test('nor is one that another gateway sealed', async () => {
    const { row, sent } = await ask((token) => token, off);
    expect(sent).not.toContain('Steep green');
    expect(row.losses).toContainEqual(unreadable);
  });
});

describe('generate-content', () => {
  const generate = (more: object = {}, gateway = on) =>
    post(gateway, `/v1beta/models/${scripted.isGemini ? 'generate' : 'chat'}:${scripted.isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, {
      contents: [{ role: 'user', parts: [{ text: question }] }],
      tools: [{ googleSearch: {} }],
      ...more,
    });
  // Two bytes a letter: the vendor counts bytes.
  const before = 'Überlegung: ';
  const cited = '[Tea](https://tea.example/steep)';
  const groundingChunks = [{ web: { uri: 'https://tea.example/steep', title: 'Tea' } }];
  const segmentAt = (startIndex: number) => ({ startIndex, endIndex: startIndex + cited.length, text: cited });
  beforeEach(() => {
    scripted.said = [{ text: before, calls: [call('green tea temperature')] }, { text: answer }];
  });

  test('the candidate names the search, the page and the words that lean on it', async () => {
    const reply = await generate();
    expect(validateWhole(reply.json)).toEqual([]);
    const [{ content, finishReason, groundingMetadata }] = reply.json.candidates;
    expect(content.parts).toEqual([{ text: before }, { text: answer }]);
    expect(finishReason).toBe('STOP');
    expect(groundingMetadata).toEqual({
      groundingChunks,
      groundingSupports: [{ segment: { partIndex: 1, ...segmentAt(answer.indexOf(cited)) }, groundingChunkIndices: [0] }],
      webSearchQueries: ['green tea temperature'],
    });
    expect(reply.json.usageMetadata).toMatchObject({ promptTokenCount: 20, candidatesTokenCount: 10 });
    expect(searched()).toHaveLength(1);
    const row = await on.row(reply.id);
    expect(row).toMatchObject({ cost_micros: 5_000, pipeline: ['translate', 'hosted-tools'] });
    expect(row.losses).toEqual([expect.objectContaining({ field: 'tools.web_search', action: 'emulated' })]);
  });

  test('streamed: the last chunk has it, with places in the text of all chunks', async () => {
    scripted.isStream = true;
    const reply = await generate({ tools: [{ google_search: {} }] });
    expect(validateGenerate(reply.text, 'sse')).toEqual([]);
    const candidates = eventsOf(reply.text.replaceAll('\r\n', '\n')).map((chunk) => chunk.candidates[0]);
    const text = candidates.flatMap(({ content }) => content.parts.map((part: { text: string }) => part.text)).join('');
    expect(text).toBe(before + answer);
    expect(candidates.filter((candidate) => 'groundingMetadata' in candidate)).toEqual([candidates.at(-1)]);
    const { groundingMetadata } = candidates.at(-1);
    const segment = segmentAt(Buffer.byteLength(before) + answer.indexOf(cited));
    expect(groundingMetadata).toEqual({
      groundingChunks,
      groundingSupports: [{ segment, groundingChunkIndices: [0] }],
      webSearchQueries: ['green tea temperature'],
    });
    expect(Buffer.from(text).subarray(segment.startIndex, segment.endIndex).toString()).toBe(cited);
  });

  test('excluded domains are not shown, and pages that were read are named', async () => {
    pages.scriptOf = () => ({ contentType: 'text/html', chunks: [Buffer.from('<title>Steeping</title><p>At 80 degrees.</p>')], ending: 'end' });
    scripted.said = [{ calls: [call('tea'), call('https://tea.example/page', 'web_fetch'), call('https://evil.example/', 'web_fetch')] }, { text: answer }];
    const reply = await generate({
      contents: [{ role: 'user', parts: [{ text: 'Read https://tea.example/page' }] }],
      tools: [{ googleSearch: { excludeDomains: ['tea.example'] } }, { urlContext: {} }],
    });
    const [{ groundingMetadata, urlContextMetadata }] = reply.json.candidates;
    expect(groundingMetadata).toEqual({ webSearchQueries: ['tea'] });
    expect(urlContextMetadata.urlMetadata).toEqual([
      { retrievedUrl: 'https://tea.example/page', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
      { retrievedUrl: 'https://evil.example/', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_ERROR' },
    ]);
    expect(JSON.stringify(upstreamBodies()[1])).not.toContain('Steep green tea');
  });

  test('an upstream of the same protocol gets the tool as it is; without the group’s consent the loss is declared', async () => {
    scripted.said = [{ text: answer }, { text: answer }];
    const reply = await generate({}, off);
    expect((await off.row(reply.id)).losses).toContainEqual(expect.objectContaining({ action: 'dropped' }));
    scripted.isGemini = true;
    await generate();
    expect(upstreamBodies().at(-1).tools).toEqual([{ googleSearch: {} }]);
    expect(searched()).toEqual([]);
  });
});
