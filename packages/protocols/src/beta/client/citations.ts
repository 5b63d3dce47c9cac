/** Citations in another protocol's reply, in this protocol's fields. */
import { asArray, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';

/** The kind of cited range, and the names of its three numbers in this protocol. */
const locations: Readonly<Record<string, { type: string; index: string; from: string; to: string }>> = {
  documentChar: { type: 'char_location', index: 'document_index', from: 'start_char_index', to: 'end_char_index' },
  documentPage: { type: 'page_location', index: 'document_index', from: 'start_page_number', to: 'end_page_number' },
  documentChunk: { type: 'content_block_location', index: 'document_index', from: 'start_block_index', to: 'end_block_index' },
  searchResultLocation: { type: 'search_result_location', index: 'search_result_index', from: 'start_block_index', to: 'end_block_index' },
};

/**
 * The raw citation on a text block: this protocol's own unchanged, one of Bedrock Converse in this protocol's fields. null for what has no
 * counterpart: web pages found by another vendor need an `encrypted_index` that only this vendor can issue.
 */
export function readCitation(value: unknown): unknown {
  const citation = own(value, 'citation');
  if (asString(own(value, 'type')) === 'citations_delta') return citation ?? null;
  const [kind, place] = Object.entries(asObject(own(citation, 'location')) ?? {})[0] ?? [];
  const names = kind !== undefined && Object.hasOwn(locations, kind) ? locations[kind] : undefined;
  if (!names) return null;
  const searched = kind === 'searchResultLocation';
  const [index, from, to] = [own(place, searched ? 'searchResultIndex' : 'documentIndex'), own(place, 'start'), own(place, 'end')].map(asNumber);
  if (index === undefined || from === undefined || to === undefined) return null;
  const title = asString(own(citation, 'title')) ?? null;
  return {
    type: names.type,
    cited_text: (asArray(own(citation, 'sourceContent')) ?? []).map((part) => asString(own(part, 'text')) ?? '').join(''),
    [names.index]: index,
    ...(searched ? { source: asString(own(citation, 'source')) ?? '', title } : { document_title: title, file_id: null }),
    [names.from]: from,
    [names.to]: to,
  } satisfies JsonObject;
}
