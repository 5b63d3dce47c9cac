/**
 * Tools that wait until a search finds them (`defer_loading`, `tool_search_tool_…`, `tool_reference`). Only the vendor supports that: compatible
 * servers and other clouds answer 400. There all tools are offered at once, and search results become text. `extra_config.tool_search: "native"` says
 * that a relay supports it. See https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/tool-search-tool
 */
import type { Edit } from '@model-gateway/json-bytes';
import type { Target } from '../../contract/index.ts';
import { asArray, asString, own } from '../../kit/read.ts';
import { isFirstParty } from './billing-line.ts';
import { describeServerTool } from './server-tools.ts';

/** Texts one of which is in every body that needs this. */
export const deferredMarks = ['"defer_loading"', '"tool_reference"', '"tool_search_tool_'] as const;

export const searchesTools = (target: Target): boolean => isFirstParty(target.baseUrl) || own(target.extraConfig, 'tool_search') === 'native';

/** What a reference to a tool says where it means nothing. */
export const describeReference = (block: unknown): string => `The tool ${asString(own(block, 'tool_name')) ?? ''} is available now.`;

const isSearch = (type: string | undefined): boolean => type?.startsWith('tool_search_tool_') ?? false;

/** The edits of a raw body after which it works without a search. */
export function offerAllTools(body: unknown): Edit[] {
  const tools = (asArray(own(body, 'tools')) ?? []).flatMap((tool, at): Edit[] => {
    if (isSearch(asString(own(tool, 'type')))) return [{ path: ['tools', at], value: undefined }];
    return own(tool, 'defer_loading') === undefined ? [] : [{ path: ['tools', at, 'defer_loading'], value: undefined }];
  });
  const blocks = (asArray(own(body, 'messages')) ?? []).flatMap((message, turn) =>
    (asArray(own(message, 'content')) ?? []).flatMap((block, at) => describeBlock(block, ['messages', turn, 'content', at])),
  );
  return [...tools, ...blocks];
}

function describeBlock(block: unknown, path: Edit['path']): Edit[] {
  const type = asString(own(block, 'type'));
  if (type === 'tool_reference') return [{ path, value: { type: 'text', text: describeReference(block) } }];
  if (type === 'tool_result') return (asArray(own(block, 'content')) ?? []).flatMap((inner, at) => describeBlock(inner, [...path, 'content', at]));
  const searched = type === 'tool_search_tool_result' || (type === 'server_tool_use' && isSearch(`${asString(own(block, 'name')) ?? ''}_`));
  // A block may not be empty, nor may a turn: what says nothing else says that a search was made.
  return searched ? [{ path, value: { type: 'text', text: describeServerTool(block, type ?? '') || '[tool search]' } }] : [];
}
