/** The vendor's hosted web search: an entry of `tools` here, and a field of the body in chat completions. */
import type { SharedSearch, Tool } from '../../chat/conversation.ts';
import type { Target } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';
import { asString, type JsonObject, own } from '../../kit/read.ts';
import { readUserPlace } from '../../kit/user-place.ts';

const protocol = 'alpha_response';

const searchType = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/;

/** undefined: another tool. */
export function readSearch(raw: JsonObject): SharedSearch | undefined {
  if (!searchType.test(asString(own(raw, 'type')) ?? '')) return undefined;
  const size = asString(own(raw, 'search_context_size'));
  const place = readUserPlace(own(raw, 'user_location'));
  return { ...(size !== undefined && { size }), ...(place && { place }) };
}

export const asksSearch = ({ rawProtocol, asSearch }: Tool): boolean => rawProtocol === protocol && asSearch !== undefined;

/** Vendors whose endpoints of this protocol search. */
const searching: ReadonlySet<string | null> = new Set(['openai', 'xai']);

/** Whether the upstream is left to run this search: a caller of this protocol may know more of an unknown model than is known here. */
export function runsSearch(tool: Tool, target: Target): boolean {
  const { vendor } = familyOf(target);
  return tool.asSearch !== undefined && (searching.has(vendor) || (vendor === null && asksSearch(tool)));
}

/** The tools of a request, of which a search that a caller of chat completions asks for is written as this protocol has it. */
export const withOwnSearch = (tools: readonly Tool[], target: Target): Tool[] =>
  tools.map((tool) =>
    tool.asSearch && !asksSearch(tool) && runsSearch(tool, target) ? { ...tool, raw: printSearch(tool.asSearch), rawProtocol: protocol } : tool,
  );

const printSearch = ({ size, place }: SharedSearch): JsonObject => ({
  type: 'web_search',
  ...(size !== undefined && { search_context_size: size }),
  ...(place && { user_location: { type: 'approximate', ...place } }),
});
