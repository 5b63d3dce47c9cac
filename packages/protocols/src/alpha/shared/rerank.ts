/**
 * Rerank, which has no standard. One answer satisfies the SDKs of Cohere (https://docs.cohere.com/reference/rerank) and Jina (https://jina.ai/reranker),
 * and of those the shapes of upstreams are read: Cohere, Jina, Voyage (https://docs.voyageai.com/reference/reranker-api), vLLM.
 */
import { noUsage, type Usage } from '@model-gateway/contracts';
import type { RankedDocument, Ranking, RerankRequest, Target, UnaryClientCodec, UnaryUpstreamCodec } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { asArray, asCount, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { isCohere } from './embeddings.ts';

/** Cohere's bound; others take fewer. */
const maxDocuments = 10_000;
const known: ReadonlySet<string> = new Set(['model', 'query', 'documents', 'top_n', 'top_k', 'return_documents']);

function readDocuments(value: unknown): RerankRequest['documents'] {
  const list = asArray(value);
  if (!list || list.length === 0) throw invalid('documents', 'documents must be a list of at least one text.');
  if (list.length > maxDocuments) throw invalid('documents', `documents must not hold more than ${maxDocuments} entries.`);
  return list.map((entry, index) => {
    const document = asString(entry) ?? asObject(entry);
    if (document === undefined) throw invalid(`documents.${index}`, 'A document must be a string or an object.');
    return document;
  });
}

function readTopN(body: unknown): number | undefined {
  const name = own(body, 'top_n') === undefined ? 'top_k' : 'top_n';
  const value = own(body, name);
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw invalid(name, `${name} must be a whole number above 0.`);
  return value as number;
}

/** What a document is repeated as. */
const asDocument = (document: string | Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  typeof document === 'string' ? { text: document } : document;

/** For upstreams whose documents are texts: one of fields has each of them on a line of its own. */
export function documentText(document: string | Readonly<Record<string, unknown>>): string {
  if (typeof document === 'string') return document;
  const text = document['text'];
  if (typeof text === 'string' && Object.keys(document).length === 1) return text;
  return Object.entries(document)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}

export const rerankClient: UnaryClientCodec<RerankRequest, Ranking> = {
  readRequest(body) {
    const query = asString(own(body, 'query'));
    if (!query) throw invalid('query', 'query must be a non-empty string.');
    const topN = readTopN(body);
    const others = Object.fromEntries(Object.entries(asObject(body) ?? {}).filter(([key, value]) => !known.has(key) && value !== null));
    const documents = readDocuments(own(body, 'documents'));
    return { request: { query, documents, returnDocuments: own(body, 'return_documents') === true, others, ...(topN !== undefined && { topN }) }, losses: [] };
  },
  writeReply({ id, results, searchUnits }, { documents, returnDocuments, topN }, { model, usage, mintId }) {
    const ordered = [...results].sort((one, other) => other.score - one.score).slice(0, topN ?? results.length);
    const tokens = usage?.input ?? 0;
    return {
      id: id ?? mintId('rerank-'),
      model,
      results: ordered.map(({ index, score, document }) => {
        const repeated = returnDocuments ? (document ?? asDocument(documents[index] ?? '')) : undefined;
        return { index, relevance_score: score, ...(repeated && { document: repeated }) };
      }),
      usage: { total_tokens: tokens },
      meta: { api_version: { version: '2' }, billed_units: searchUnits === undefined ? { input_tokens: tokens } : { search_units: searchUnits } },
    };
  },
};

const isVoyage = ({ baseUrl }: Target): boolean => /^https?:\/\/[^/]*\bvoyageai\.com(?:[:/]|$)/i.test(baseUrl);

export const rerankUpstream: UnaryUpstreamCodec<RerankRequest, Ranking> = {
  writeRequest: ({ query, documents, topN, others }, { target }) => ({
    // Documents are repeated from the request, so that no upstream needs to send them back; some refuse the field. Cohere's second version takes texts alone.
    body: {
      ...others,
      model: target.upstreamModelId,
      query,
      documents: isCohere(target) ? documents.map(documentText) : documents,
      ...(topN !== undefined && { [isVoyage(target) ? 'top_k' : 'top_n']: topN }),
    },
    losses: [],
  }),
  readReply(body, { documents }) {
    const list = asArray(own(body, 'results')) ?? asArray(own(body, 'data'));
    if (!list) throw new Error('no results');
    const billed = own(own(body, 'meta'), 'billed_units');
    const searchUnits = asNumber(own(billed, 'search_units'));
    const id = asString(own(body, 'id'));
    const reply: Ranking = {
      results: list.map((entry) => readResult(entry, documents.length)),
      ...(id !== undefined && { id }),
      ...(searchUnits !== undefined && { searchUnits }),
    };
    return { reply, usage: readUsage(own(body, 'usage'), billed) };
  },
};

/** Throws for a place that no document has. */
export function readResult(entry: unknown, documents: number): RankedDocument {
  const index = asNumber(own(entry, 'index'));
  const score = asNumber(own(entry, 'relevance_score')) ?? asNumber(own(entry, 'score'));
  if (index === undefined || !Number.isSafeInteger(index) || index < 0 || index >= documents || score === undefined)
    throw new Error('a result names no document');
  const document = own(entry, 'document');
  const shown: JsonObject | undefined = typeof document === 'string' ? { text: document } : asObject(document);
  return { index, score, ...(shown && { document: shown }) };
}

function readUsage(usage: unknown, billed: unknown): Usage | null {
  const tokens = asNumber(own(usage, 'total_tokens')) ?? asNumber(own(usage, 'prompt_tokens')) ?? asNumber(own(billed, 'input_tokens'));
  return tokens === undefined ? null : { ...noUsage, input: asCount(tokens) };
}
