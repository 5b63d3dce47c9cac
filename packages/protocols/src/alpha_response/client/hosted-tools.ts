/** The vendor's hosted web search: how it is declared, and the item that shows its use. */
import type { Tool } from '../../chat/conversation.ts';
import type { CitedRange, HostedOutcome, HostedPage, HostedTool, HostedToolsCodec, HostedUse } from '../../contract/index.ts';
import { asArray, asObject, own } from '../../kit/read.ts';
import { asksSearch, readSearch } from '../shared/web-search.ts';

const strings = (value: unknown): string[] | undefined => asArray(value)?.filter((entry): entry is string => typeof entry === 'string');

function read(tool: Tool): HostedTool | null {
  if (!asksSearch(tool)) return null;
  const { raw } = tool;
  const filters = own(raw, 'filters');
  const [allowed, blocked] = [strings(own(filters, 'allowed_domains')), strings(own(filters, 'blocked_domains'))];
  const { size, place } = tool.asSearch ?? {};
  const isBrief = size === 'low' && { isBrief: true as const };
  return { kind: 'web_search', ...(allowed && { allowed }), ...(blocked && { blocked }), ...(place && { place }), ...isBrief };
}

const item = ({ id, input }: HostedUse, status: string) => ({ id, type: 'web_search_call', status, action: { type: 'search', query: input } });

export const hostedTools: HostedToolsCodec = {
  idPrefix: 'ws_',
  read,
  offerKeys: ['tools'],
  offered: (value) => (asArray(value('tools')) ?? []).flatMap((tool) => (readSearch(asObject(tool) ?? {}) ? ['web_search'] : [])),
  begin: (use) => [{ type: 'block-start', index: use.index, block: { type: 'raw', protocol: 'alpha_response', value: item(use, 'in_progress') } }],
  end: (use, outcome: HostedOutcome) => [
    { type: 'raw-delta', index: use.index, value: item(use, outcome.ok ? 'completed' : 'failed') },
    { type: 'block-end', index: use.index },
  ],
  cite: ({ url, title }: HostedPage, [start_index, end_index]: CitedRange) => ({ annotation: { type: 'url_citation', url, title, start_index, end_index } }),
};
