/** Finds the pages that a text cites: those whose address it contains. */
import type { CitedRange, HostedPage } from '@model-gateway/protocols';

/** A longer text cites what its beginning cites. */
const maxLength = 256 * 1024;

/** A page and the part of the text that names it, the label of a Markdown link included. */
export interface Citation {
  page: HostedPage;
  range: CitedRange;
}

export function citationsIn(text: string, pages: Iterable<HostedPage>): Citation[] {
  const looked = text.slice(0, maxLength);
  const found: Citation[] = [];
  for (const page of pages) {
    const range = rangeOf(looked, page.url);
    if (range) found.push({ page, range });
  }
  return found.sort((one, other) => one.range[0] - other.range[0]);
}

/** Where the address ends, so that it is not the beginning of a longer one. */
const goesOn = /^[\w/%?=&#~+-]/;

function rangeOf(text: string, url: string): CitedRange | null {
  for (let at = text.indexOf(url); at >= 0; at = text.indexOf(url, at + 1)) {
    const end = at + url.length;
    if (goesOn.test(text.slice(end, end + 1))) continue;
    const label = text.slice(at - 2, at) === '](' && text[end] === ')' ? text.lastIndexOf('[', at - 2) : -1;
    return label >= 0 ? [label, end + 1] : [at, end];
  }
  return null;
}
