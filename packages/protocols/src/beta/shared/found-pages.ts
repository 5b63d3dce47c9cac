/**
 * Searches that the gateway ran for an earlier turn, in a history. What was found is sealed in tokens: models of other vendors read it as text, and so does
 * the vendor itself, which reads its own tokens alone and refuses a request with another's.
 */
import type { Edit } from '@model-gateway/json-bytes';
import type { OpenPage } from '../../contract/index.ts';
import { isPageToken, readPageToken } from '../../kit/found-page-token.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { describeServerTool } from './server-tools.ts';

const holdsOurs = (block: unknown): boolean =>
  own(block, 'type') === 'web_search_tool_result' && (asArray(own(block, 'content')) ?? []).some((found) => isPageToken(own(found, 'encrypted_content')));

/** The results of a search with their text in place of our tokens. The same block where it holds none of them. */
function withText<T>(block: T, open: OpenPage | undefined, losses: Losses): T {
  if (!holdsOurs(block)) return block;
  const content = (asArray(own(block, 'content')) ?? []).map((found) => {
    const token = own(found, 'encrypted_content');
    if (!isPageToken(token)) return found;
    const { encrypted_content: _, ...rest } = asObject(found) ?? {};
    const text = readPageToken(token, open);
    if (text === null) losses.dropped('messages.web_search', 'what an earlier search found cannot be read any more');
    return text === null ? rest : { ...rest, text };
  });
  return { ...block, content };
}

/** Messages whose searches can be read. The same list where there is nothing to open; never changes `messages`. */
export function openFoundPages(messages: JsonObject[], open: OpenPage | undefined, losses: Losses): JsonObject[] {
  const isIn = (message: JsonObject): boolean => (asArray(own(message, 'content')) ?? []).some(holdsOurs);
  if (!messages.some(isIn)) return messages;
  return messages.map((message) =>
    isIn(message) ? { ...message, content: (asArray(own(message, 'content')) ?? []).map((block) => withText(block, open, losses)) } : message,
  );
}

/** For a history that passes to the vendor as it is. `messages`: of the caller's body. */
export function foundPageEdits(messages: readonly unknown[], open: OpenPage | undefined, losses: Losses): Edit[] {
  const edits: Edit[] = [];
  for (const [turn, message] of messages.entries()) {
    const blocks = asArray(own(message, 'content')) ?? [];
    const searches = new Set(blocks.filter(holdsOurs).map((block) => asString(own(block, 'tool_use_id'))));
    for (const [place, block] of blocks.entries()) {
      const path = ['messages', turn, 'content', place];
      const type = asString(own(block, 'type')) ?? '';
      const isSearch = type === 'server_tool_use' && searches.has(asString(own(block, 'id')));
      if (holdsOurs(block) || isSearch)
        edits.push({ path, value: { type: 'text', text: describeServerTool(withText(block, open, losses), type) || '[web_search]' } });
      const cited = asArray(own(block, 'citations')) ?? [];
      if (cited.some((citation) => isPageToken(own(citation, 'encrypted_index')))) edits.push({ path: [...path, 'citations'], value: undefined });
    }
  }
  if (edits.length > 0) losses.add('messages.web_search', 'emulated', 'what an earlier search found is sent as text');
  return edits;
}
