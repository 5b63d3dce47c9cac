/** The vendor's web search, which is not an entry of `tools` here but a field of the body. */
import type { Tool } from '../../chat/conversation.ts';
import type { Target } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { familyOf } from '../../kit/family.ts';
import type { Losses } from '../../kit/losses.ts';
import { asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { readUserPlace } from '../../kit/user-place.ts';

/** The field's name, and the tool's: no choice of a tool can mean it. */
export const searchField = 'web_search_options';

/** [] without the field. */
export function readSearchOptions(source: JsonObject): Tool[] {
  const options = own(source, searchField);
  if (options === undefined || options === null) return [];
  if (!asObject(options)) throw invalid(searchField, `\`${searchField}\` must be an object.`);
  const size = asString(own(options, 'search_context_size'));
  const place = readUserPlace(own(own(options, 'user_location'), 'approximate'));
  const asSearch = { ...(size !== undefined && { size }), ...(place && { place }) };
  return [{ type: 'server', name: searchField, raw: { [searchField]: options }, rawProtocol: 'alpha', asSearch }];
}

export const asksSearch = ({ type, raw, rawProtocol }: Tool): boolean => type === 'server' && rawProtocol === 'alpha' && own(raw, searchField) !== undefined;

/** Models of the vendor that search before they answer: `gpt-4o-search-preview`, `gpt-5-search-api`. Its others refuse the field. */
const searching = /-search-(?:preview|api)/;

/** Whether the model searches by itself; null: nobody knows of a model of an unknown vendor. Vendors that copy this protocol do not have the field. */
export function searchesItself(target: Target): boolean | null {
  const { vendor } = familyOf(target);
  if (vendor === null) return null;
  return vendor === 'openai' && searching.test(target.upstreamModelId);
}

/** Whether the model is left to run this search: a caller of this protocol may know more of an unknown model than is known here. */
export const runsSearch = (tool: Tool, target: Target): boolean => tool.asSearch !== undefined && (searchesItself(target) ?? asksSearch(tool));

/** The tools that are entries of `tools`: a search that goes as a field of the body is none of them. */
export const withoutOwnSearch = (tools: readonly Tool[], target: Target): readonly Tool[] =>
  searchesItself(target) === true ? tools.filter(({ asSearch }) => !asSearch) : tools;

/** The field of an upstream request. */
export function writeSearchOptions(tools: readonly Tool[], target: Target, losses: Losses): JsonObject {
  const asked = tools.find(({ asSearch }) => asSearch);
  if (!asked?.asSearch) return {};
  const isOwn = asksSearch(asked);
  if (searchesItself(target) !== true) {
    if (isOwn) losses.add(searchField, 'dropped', 'A tool that the vendor runs itself is only known to its own endpoint.');
    return {};
  }
  if (isOwn) return asked.raw as JsonObject;
  if (own(asked.raw, 'filters') !== undefined) losses.add('tools.filters', 'dropped', 'This upstream searches without lists of domains.');
  const { size, place } = asked.asSearch;
  return {
    [searchField]: {
      ...(size !== undefined && { search_context_size: size }),
      ...(place && { user_location: { type: 'approximate', approximate: place } }),
    },
  };
}
