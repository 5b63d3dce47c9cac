/** The vendor's web search. A reply shows nothing of the search itself, only which pages its words lean on. */
import type { Tool } from '../../chat/conversation.ts';
import type { CitedRange, HostedPage, HostedTool, HostedToolsCodec } from '../../contract/index.ts';
import { asObject } from '../../kit/read.ts';
import { asksSearch, searchField } from '../shared/web-search-options.ts';

function read(tool: Tool): HostedTool | null {
  if (!asksSearch(tool)) return null;
  const { size, place } = tool.asSearch ?? {};
  return { kind: 'web_search', ...(place && { place }), ...(size === 'low' && { isBrief: true }) };
}

export const hostedTools: HostedToolsCodec = {
  idPrefix: 'ws_',
  read,
  offerKeys: [searchField],
  offered: (value) => (asObject(value(searchField)) ? ['web_search'] : []),
  begin: () => [],
  end: () => [],
  cite: ({ url, title }: HostedPage, [start_index, end_index]: CitedRange) => ({ annotation: { type: 'url_citation', url, title, start_index, end_index } }),
};
