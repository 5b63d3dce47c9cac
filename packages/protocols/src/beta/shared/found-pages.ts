/**
 * Searches that the gateway ran for an earlier turn, in a history that goes to the vendor itself: the vendor reads its own tokens alone, and refuses a
 * request with another's. What was found goes as text, as it does to upstreams without such blocks.
 */
import type { Edit } from '@model-gateway/json-bytes';
import { readPageToken } from '../../kit/found-page-token.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asString, own } from '../../kit/read.ts';
import { describeServerTool } from './server-tools.ts';

const isOurs = (token: unknown): boolean => readPageToken(token) !== null;
const holdsOurs = (block: unknown): boolean =>
  own(block, 'type') === 'web_search_tool_result' && (asArray(own(block, 'content')) ?? []).some((found) => isOurs(own(found, 'encrypted_content')));

/** `messages`: of the caller's body. */
export function foundPageEdits(messages: readonly unknown[], losses: Losses): Edit[] {
  const edits: Edit[] = [];
  for (const [turn, message] of messages.entries()) {
    const blocks = asArray(own(message, 'content')) ?? [];
    const searches = new Set(blocks.filter(holdsOurs).map((block) => asString(own(block, 'tool_use_id'))));
    for (const [place, block] of blocks.entries()) {
      const path = ['messages', turn, 'content', place];
      const type = asString(own(block, 'type')) ?? '';
      const isSearch = type === 'server_tool_use' && searches.has(asString(own(block, 'id')));
      if (holdsOurs(block) || isSearch) edits.push({ path, value: { type: 'text', text: describeServerTool(block, type) || '[web_search]' } });
      const cited = asArray(own(block, 'citations')) ?? [];
      if (cited.some((citation) => isOurs(own(citation, 'encrypted_index')))) edits.push({ path: [...path, 'citations'], value: undefined });
    }
  }
  if (edits.length > 0) losses.add('messages.web_search', 'emulated', 'what an earlier search found is sent as text');
  return edits;
}
