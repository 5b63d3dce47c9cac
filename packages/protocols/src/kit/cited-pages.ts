/**
 * Web pages that a reply cites: the part of citations that several protocols can express. Everything else of a citation (quotes from documents,
 * opaque tokens for citing again) exists at its own vendor alone.
 */
import { asArray, asNumber, asObject, asString, own } from './read.ts';

/** A cited web page; `range`: the part of the text that it supports. */
export interface CitedPage {
  url: string;
  title: string;
  /** Where the words stand that it is cited for, in the text of the reply; absent when that is not said. */
  range?: readonly [start: number, end: number];
}

/** Web pages read from vendor citations. */
export interface Cited {
  pages: CitedPage[];
  /** Whether more was said than these. */
  more: boolean;
}

/** More than any page's address has. */
const maxUrlLength = 8192;

function page(url: unknown, title: unknown, start?: unknown, end?: unknown): CitedPage[] {
  const address = asString(url);
  if (address === undefined || address.length > maxUrlLength || !/^https?:\/\//i.test(address)) return [];
  const [from, to] = [asNumber(start), asNumber(end)];
  const isRange = from !== undefined && to !== undefined && Number.isInteger(from) && Number.isInteger(to) && 0 <= from && from < to;
  return [{ url: address, title: asString(title) ?? '', ...(isRange && { range: [from, to] }) }];
}

const annotated = (annotation: unknown): CitedPage[] => {
  // One endpoint puts the same fields one level deeper.
  const fields = own(annotation, 'url_citation') ?? annotation;
  return own(annotation, 'type') === 'url_citation' ? page(own(fields, 'url'), own(fields, 'title'), own(fields, 'start_index'), own(fields, 'end_index')) : [];
};

function cited(citation: unknown): CitedPage[] {
  const web = own(own(citation, 'location'), 'web');
  return page(own(web, 'url') ?? own(citation, 'url') ?? own(citation, 'source'), own(citation, 'title'));
}

const grounded = (metadata: unknown): CitedPage[] =>
  (asArray(own(metadata, 'groundingChunks')) ?? []).flatMap((chunk) => page(own(own(chunk, 'web'), 'uri'), own(own(chunk, 'web'), 'title')));

/** `value`: of a `raw` block, or a raw annotation of a text block, whichever protocol it came from. */
export function readCitedPages(value: unknown): Cited {
  const fields = asObject(own(value, 'fields'));
  if (fields) {
    const list = asArray(own(fields, 'annotations')) ?? [];
    const pages = list.flatMap(annotated);
    return { pages, more: pages.length < list.length || Object.keys(fields).length > 1 };
  }
  const annotation = own(value, 'annotation');
  if (annotation !== undefined) return { pages: annotated(annotation), more: false };
  const citation = own(value, 'citation');
  if (citation !== undefined) return { pages: cited(citation), more: true };
  return { pages: grounded(own(own(value, 'candidate'), 'groundingMetadata')), more: true };
}
