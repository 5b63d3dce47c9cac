/** What upstreams answer when a feature was asked for: the same reply for all, but for citations, which each words in its own way. */
import { noUsage } from '@model-gateway/contracts';
import type { BlockStart, ChatEvent } from '../../src/index.ts';

/** One block: its start, its text, and its annotations. */
export interface Said {
  start: BlockStart;
  text?: string;
  signature?: string;
  raw?: unknown;
}

const kinds: Readonly<Record<string, 'text-delta' | 'thinking-delta' | 'arguments-delta'>> = {
  text: 'text-delta',
  thinking: 'thinking-delta',
  'tool-call': 'arguments-delta',
};
const usage = { ...noUsage, input: 120, cacheRead: 40, output: 30 };

/** The blocks as a stream: each text in two pieces. */
export function reply(blocks: readonly Said[], reason: 'stop' | 'tool-calls' = 'stop'): ChatEvent[] {
  const events: ChatEvent[] = [{ type: 'start', id: 'upstream-1', model: 'real-model', createdAt: 1_700_000_000 }];
  blocks.forEach(({ start, text = '', signature, raw }, index) => {
    events.push({ type: 'block-start', index, block: start });
    const kind = kinds[start.type];
    const middle = Math.floor(text.length / 2);
    if (kind && text !== '') for (const piece of [text.slice(0, middle), text.slice(middle)]) events.push({ type: kind, index, text: piece });
    if (raw !== undefined) events.push({ type: 'raw-delta', index, value: raw });
    if (signature !== undefined) events.push({ type: 'signature', index, signature });
    events.push({ type: 'block-end', index });
  });
  return [...events, { type: 'finish', reason }, { type: 'usage', usage }, { type: 'end' }];
}

export const text = (words: string): Said => ({ start: { type: 'text' }, text: words });
export const thinking = (words: string): Said => ({ start: { type: 'thinking' }, text: words, signature: 'c2lnbmF0dXJlLW9uZQ==' });
export const call = (id: string, args: object): Said => ({ start: { type: 'tool-call', id, name: 'get_weather' }, text: JSON.stringify(args) });

export const citedPage = 'https://rivers.test/seine';
const title = 'Seine';
const cited = text('The Seine is a river.');
const beside = (protocol: string, value: unknown): Said[] => [cited, { start: { type: 'raw', protocol, value } }];
const annotation = { type: 'url_citation', url: citedPage, title, start_index: 4, end_index: 9 };
const chatAnnotation = {
  place: 'message',
  fields: { annotations: [{ type: 'url_citation', url_citation: { url: citedPage, title, start_index: 4, end_index: 9 } }] },
};
const pageCitation = { type: 'web_search_result_location', url: citedPage, title, encrypted_index: 'aa', cited_text: 'The Seine' };
const messagesCitation: Said[] = [{ ...cited, raw: { type: 'citations_delta', citation: pageCitation } }];

/** By upstream protocol; who is not here has no citations in its wire. */
const citations: Readonly<Record<string, Said[]>> = {
  alpha: beside('alpha', chatAnnotation),
  alpha_response: beside('alpha_response', { type: 'output_text.annotation', annotation }),
  beta: messagesCitation,
  cloudhost_invoke: messagesCitation,
  gamma: beside('gamma', { candidate: { groundingMetadata: { groundingChunks: [{ web: { uri: citedPage, title } }] } } }),
  cloudhost_converse: [{ ...cited, raw: { citation: { title, location: { web: { url: citedPage } } } } }],
  cloudhost_ide_streaming: beside('alpha', chatAnnotation),
};

const document = { cited_text: 'The Seine', document_index: 0, document_title: title, file_id: null };
const pageOfDocument: Said[] = [
  { ...cited, raw: { type: 'citations_delta', citation: { type: 'page_location', ...document, start_page_number: 1, end_page_number: 2 } } },
];

/** The same of those who cite the documents of a request, when they are asked to. */
const documentCitations: Readonly<Record<string, Said[]>> = {
  beta: pageOfDocument,
  cloudhost_invoke: pageOfDocument,
  cloudhost_converse: [
    {
      ...cited,
      raw: { citation: { title, sourceContent: [{ text: 'The Seine' }], location: { documentPage: { documentIndex: 0, start: 1, end: 2 } } } },
    },
  ],
};
/** How a messages caller is told of that page. */
export const citedDocument = '"type":"page_location","cited_text":"The Seine"';
export const documentReply = (upstream: string): Said[] | null => (Object.hasOwn(documentCitations, upstream) ? documentCitations[upstream]! : null);
export const citedReply = (upstream: string): Said[] | null => (Object.hasOwn(citations, upstream) ? citations[upstream]! : null);
