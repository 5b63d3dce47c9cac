/** The vendor's web search. A reply shows nothing of the search itself, only which pages its words lean on. */
import type { Tool } from '../../chat/conversation.ts';
import type { CitedRange, HostedPage, HostedTool, HostedToolsCodec } from '../../contract/index.ts';
import { asksSearch } from '../shared/web-search-options.ts';

export const hostedTools: HostedToolsCodec = {
  idPrefix: 'ws_',
  read: (tool: Tool): HostedTool | null => (asksSearch(tool) ? { kind: 'web_search' } : null),
  begin: () => [],
  end: () => [],
  cite: ({ url, title }: HostedPage, [start_index, end_index]: CitedRange) => ({ annotation: { type: 'url_citation', url, title, start_index, end_index } }),
};
