/** What a vendor's own web search looks like in a reply: each field of its blocks and citations, and nothing besides. Whole replies, and streams put together. */
import { validateStream as validateChat } from '../../packages/protocols/test/validate/alpha.ts';
import { validateStream as validateResponses } from '../../packages/protocols/test/validate/alpha-response.ts';
import { validateStream as validateMessages } from '../../packages/protocols/test/validate/beta.ts';
import { validateStream as validateGenerate, validateWhole } from '../../packages/protocols/test/validate/gamma.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies of four protocols are read freely.
type Json = any;

/** A reply as its caller holds it. */
export interface HostedReply {
  text: string;
  /** What was searched for; [] where the protocol does not show it. */
  queries: string[];
  cited: { url: string; title: string }[];
  /** What is wrong with its shape. */
  faults: string[];
  /** What the caller sends back as this turn. */
  turn: Json[];
}

/** Reads and judges replies of one protocol. */
export interface HostedReader {
  read(body: string, stream: boolean): HostedReply;
}

const eventsOf = (text: string): Json[] =>
  text
    .replaceAll('\r\n', '\n')
    .split('\n\n')
    .flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? [])
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data));

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isNumber = (value: unknown): boolean => Number.isInteger(value);

/** Fields of an object against what each must be; a name with `?` may be absent. */
function differences(name: string, value: Json, fields: Record<string, (value: Json) => boolean>): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${name}: is no object`];
  const known = Object.entries(fields).map(([key, holds]) => ({ key: key.replace('?', ''), optional: key.endsWith('?'), holds }));
  return [
    ...Object.keys(value).flatMap((key) => (known.some((one) => one.key === key) ? [] : [`${name}: has ${key}`])),
    ...known.flatMap(({ key, optional, holds }) =>
      optional && !(key in value) ? [] : holds(value[key]) ? [] : [`${name}: ${key} is ${JSON.stringify(value[key])}`],
    ),
  ];
}

const is = (wanted: unknown) => (value: unknown) => value === wanted;

function foldMessages(events: Json[]): Json {
  const message = structuredClone(events.find(({ type }) => type === 'message_start')?.message ?? {});
  for (const { type, index, content_block, delta, usage } of events) {
    if (type === 'content_block_start') message.content[index] = { ...content_block };
    const block = message.content[index];
    if (type === 'content_block_delta' && delta.type === 'text_delta') block.text += delta.text;
    if (type === 'content_block_delta' && delta.type === 'input_json_delta') block.json = (block.json ?? '') + delta.partial_json;
    if (type === 'content_block_delta' && delta.type === 'citations_delta') block.citations = [...(block.citations ?? []), delta.citation];
    if (type === 'content_block_stop' && block.json !== undefined) {
      block.input = JSON.parse(block.json);
      delete block.json;
    }
    if (type === 'message_delta') Object.assign(message, delta, { usage: { ...message.usage, ...usage } });
  }
  return message;
}

/** See https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/web-search-tool */
const messages: HostedReader = {
  read(body, stream) {
    const reply = stream ? foldMessages(eventsOf(body)) : JSON.parse(body);
    const faults = stream ? validateMessages(body) : [];
    const uses = new Set<string>();
    const found = new Map<string, string>();
    const answer: HostedReply = { text: '', queries: [], cited: [], faults, turn: [{ role: 'assistant', content: reply.content }] };
    let done = 0;
    for (const block of reply.content) {
      if (block.type === 'server_tool_use') {
        const fields = {
          type: isText,
          id: (id: string) => /^srvtoolu_[A-Za-z0-9]+$/.test(id),
          name: is('web_search'),
          input: () => true,
          'caller?': () => true,
        };
        faults.push(...differences('server_tool_use', block, fields), ...differences('input', block.input, { query: isText }));
        uses.add(block.id);
        answer.queries.push(block.input.query);
      } else if (block.type === 'web_search_tool_result' && block.content?.type === 'web_search_tool_result_error') {
        faults.push(...differences('web_search_tool_result_error', block.content, { type: isText, error_code: isText }));
        if (!uses.has(block.tool_use_id)) faults.push('web_search_tool_result_error: of no search');
      } else if (block.type === 'web_search_tool_result') {
        done++;
        const fields = { type: isText, tool_use_id: (id: string) => uses.has(id), content: Array.isArray, 'caller?': () => true };
        faults.push(...differences('web_search_tool_result', block, fields));
        for (const page of block.content) {
          const fields = {
            type: is('web_search_result'),
            url: isText,
            title: isText,
            encrypted_content: isOpaque,
            page_age: (age: unknown) => age === null || isText(age),
          };
          faults.push(...differences('web_search_result', page, fields));
          found.set(page.url, page.title);
        }
      } else if (block.type === 'text') {
        faults.push(...differences('text', block, { type: isText, text: isText, 'citations?': (list) => list === null || Array.isArray(list) }));
        answer.text += block.text;
        for (const one of block.citations ?? []) {
          const fields = {
            type: is('web_search_result_location'),
            url: (url: string) => found.has(url),
            title: isText,
            encrypted_index: isOpaque,
            cited_text: isText,
          };
          faults.push(...differences('citation', one, fields));
          answer.cited.push({ url: one.url, title: one.title });
        }
      }
    }
    if (reply.stop_reason !== 'end_turn') faults.push(`stop_reason ${reply.stop_reason}`);
    const counted = reply.usage.server_tool_use?.web_search_requests ?? 0;
    // Those that were refused or failed are not billed.
    if (counted !== done) faults.push(`${counted} searches are counted, ${done} done`);
    return answer;
  },
};

/** Nobody but its writer can read it. */
const isOpaque = (token: unknown): boolean =>
  typeof token === 'string' &&
  token.length > 20 &&
  !/steep green|\.example|https?:/i.test(`${token} ${token.split('.').map((part) => Buffer.from(part, 'base64').toString('latin1'))}`);

/** See https://platform.openai.com/docs/guides/tools-web-search?api-mode=responses */
const responses: HostedReader = {
  read(body, stream) {
    const reply = stream ? eventsOf(body).at(-1)?.response : JSON.parse(body);
    const faults = stream ? validateResponses(body) : [];
    const answer: HostedReply = { text: '', queries: [], cited: [], faults, turn: reply.output };
    if (reply.status !== 'completed') faults.push(`status ${reply.status}`);
    for (const item of reply.output) {
      if (item.type === 'web_search_call') {
        const fields = { type: isText, id: (id: string) => /^ws_\w+$/.test(id), status: is('completed'), action: () => true };
        faults.push(...differences('web_search_call', item, fields));
        faults.push(...differences('action', item.action, { type: is('search'), query: isText, 'queries?': Array.isArray, 'sources?': Array.isArray }));
        answer.queries.push(item.action.query);
      } else if (item.type === 'message') {
        for (const { text, annotations } of item.content) {
          answer.text += text;
          for (const one of annotations) {
            const fields = {
              type: is('url_citation'),
              url: isText,
              title: isText,
              start_index: isNumber,
              end_index: (end: number) => end <= text.length && end > one.start_index,
            };
            faults.push(...differences('url_citation', one, fields));
            answer.cited.push({ url: one.url, title: one.title });
          }
        }
      } else if (item.type !== 'reasoning') faults.push(`an item ${item.type}`);
    }
    return answer;
  },
};

/** See https://platform.openai.com/docs/guides/tools-web-search?api-mode=chat */
const chat: HostedReader = {
  read(body, stream) {
    const events = stream ? eventsOf(body) : [];
    const deltas: Json[] = stream ? events.flatMap(({ choices }) => choices.map(({ delta }: Json) => delta)) : [JSON.parse(body).choices[0].message];
    const reasons = stream
      ? events.flatMap(({ choices }) => choices.flatMap((one: Json) => one.finish_reason ?? []))
      : [JSON.parse(body).choices[0].finish_reason];
    const text = deltas.map(({ content }) => content ?? '').join('');
    const annotations = deltas.flatMap((delta) => delta.annotations ?? []);
    const faults = stream ? validateChat(body) : [];
    if (reasons.join() !== 'stop') faults.push(`finish_reason ${reasons}`);
    if (deltas.some((delta) => delta.tool_calls)) faults.push('a call of the search is shown');
    for (const one of annotations) {
      const page = one.url_citation;
      const fields = { url: isText, title: isText, start_index: isNumber, end_index: (end: number) => end <= text.length && end > page.start_index };
      faults.push(...differences('annotation', one, { type: is('url_citation'), url_citation: () => true }), ...differences('url_citation', page, fields));
    }
    const cited = annotations.map(({ url_citation: { url, title } }) => ({ url, title }));
    return { text, queries: [], cited, faults, turn: [{ role: 'assistant', content: text }] };
  },
};

/** See https://ai.google.dev/gemini-api/docs/google-search */
const generate: HostedReader = {
  read(body, stream) {
    const chunks = stream ? eventsOf(body) : [JSON.parse(body)];
    const candidates: Json[] = chunks.flatMap((chunk) => chunk.candidates ?? []);
    const parts = candidates.flatMap(({ content }) => content?.parts ?? []);
    const text = parts.map((part: Json) => (part.thought ? '' : (part.text ?? ''))).join('');
    const faults = stream ? validateGenerate(body, 'sse') : validateWhole(chunks[0]);
    const metadata: Json = Object.assign({}, ...candidates.map((one) => one.groundingMetadata ?? {}));
    const lists = {
      'groundingChunks?': Array.isArray,
      'groundingSupports?': Array.isArray,
      'webSearchQueries?': Array.isArray,
      'searchEntryPoint?': () => true,
      'retrievalMetadata?': () => true,
    };
    faults.push(...differences('groundingMetadata', metadata, lists));
    const pages: Json[] = metadata.groundingChunks ?? [];
    for (const page of pages)
      faults.push(
        ...differences('groundingChunk', page, { web: () => true }),
        ...differences('web', page.web, { uri: isText, title: isText, 'domain?': isText }),
      );
    for (const { segment, groundingChunkIndices } of metadata.groundingSupports ?? []) {
      const said = stream || segment.partIndex === undefined ? text : parts[segment.partIndex]?.text;
      const words = Buffer.from(said ?? '')
        .subarray(segment.startIndex ?? 0, segment.endIndex)
        .toString();
      if (words !== segment.text) faults.push(`a segment is ${words}, not ${segment.text}`);
      if (!groundingChunkIndices.every((at: number) => pages[at])) faults.push('a segment leans on no page');
    }
    const cited = pages.map(({ web }) => ({ url: web.uri, title: web.title }));
    return { text, queries: metadata.webSearchQueries ?? [], cited, faults, turn: [{ role: 'model', parts }] };
  },
};

/** By the caller's protocol. */
export const hostedReaders = { alpha: chat, alpha_response: responses, beta: messages, gamma: generate };
