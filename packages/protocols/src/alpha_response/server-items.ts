/** Items of tools that the vendor ran itself, as text for upstreams that have no such items. */
import { asArray, asString, type JsonObject, own } from '../kit/read.ts';

/** More than a reader of a history needs of one item. */
const longest = 20_000;
const mostResults = 100;

/** Stands for a compacted conversation that only its issuer can read: without a word the model would take what is left for the whole. */
export const unreadableCompaction = '[The conversation before this point was compacted by another model, and cannot be read here.]';

const tellers: Readonly<Record<string, (item: JsonObject) => string[]>> = {
  web_search_call: (item) => [named('web_search', own(item, 'action'))],
  file_search_call: (item) => [
    named('file_search', own(item, 'queries')),
    ...listOf(own(item, 'results')).map((result) => [own(result, 'filename'), own(result, 'text')].filter((text) => typeof text === 'string').join(': ')),
  ],
  code_interpreter_call: (item) => [
    `[code_interpreter]\n${asString(own(item, 'code')) ?? ''}`,
    ...listOf(own(item, 'outputs')).map((output) => asString(own(output, 'logs')) ?? ''),
  ],
  mcp_call: (item) => [
    `[${asString(own(item, 'server_label')) ?? 'mcp'}.${asString(own(item, 'name')) ?? ''}: ${asString(own(item, 'arguments')) ?? ''}]`,
    asString(own(item, 'output')) ?? asString(own(item, 'error')) ?? '',
  ],
  compaction: () => [unreadableCompaction],
};

const listOf = (value: unknown): unknown[] => (asArray(value) ?? []).slice(0, mostResults);
const named = (name: string, value: unknown): string => (value === undefined ? '' : `[${name}: ${JSON.stringify(value)}]`);

/** '' when the item holds nothing that can be read. */
export function tellServerItem(item: JsonObject, type: string): string {
  const tell = Object.hasOwn(tellers, type) ? tellers[type] : undefined;
  return (tell?.(item) ?? [])
    .filter((text) => text !== '')
    .join('\n')
    .slice(0, longest);
}
