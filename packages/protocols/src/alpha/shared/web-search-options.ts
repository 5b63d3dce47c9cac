/** The vendor's web search, which is no entry of `tools` here but a field of the body. */
import type { Tool } from '../../chat/conversation.ts';
import { invalid } from '../../kit/fail.ts';
import type { Losses } from '../../kit/losses.ts';
import { asObject, type JsonObject, own } from '../../kit/read.ts';
import type { ChatFamily } from './families.ts';

/** The field's name, and the tool's: no choice of a tool can mean it. */
export const searchField = 'web_search_options';

/** [] without the field. */
export function readSearchOptions(source: JsonObject): Tool[] {
  const options = own(source, searchField);
  if (options === undefined || options === null) return [];
  if (!asObject(options)) throw invalid(searchField, `\`${searchField}\` must be an object.`);
  return [{ type: 'server', name: searchField, raw: { [searchField]: options }, rawProtocol: 'alpha' }];
}

export const asksSearch = ({ type, raw, rawProtocol }: Tool): boolean => type === 'server' && rawProtocol === 'alpha' && own(raw, searchField) !== undefined;

/** The field of an upstream request. Vendors that copy this protocol do not have it. */
export function writeSearchOptions(tools: readonly Tool[], family: ChatFamily, losses: Losses): JsonObject {
  const asked = tools.find(asksSearch);
  if (!asked) return {};
  if (family.firstParty) return asked.raw as JsonObject;
  losses.add(searchField, 'dropped', 'A tool that the vendor runs itself is only known to its own endpoint.');
  return {};
}
