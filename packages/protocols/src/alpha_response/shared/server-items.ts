/** Items of tools that the vendor ran itself, as text for upstreams that have no such items. */
import { asArray, asString, type JsonObject, own } from '../../kit/read.ts';

/** More than a reader of a history needs of one item. */
const maxLength = 20_000;
const maxResults = 100;

/** Stands for a compacted conversation that only its issuer can read: without a word the model would take what is left for the whole. */
export const unreadableCompaction = '[The conversation before this point was compacted by another model, and cannot be read here.]';

const describers: Readonly<Record<string, (item: JsonObject) => string[]>> = {
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

const listOf = (value: unknown): unknown[] => (asArray(value) ?? []).slice(0, maxResults);
const named = (name: string, value: unknown): string => (value === undefined ? '' : `[${name}: ${JSON.stringify(value)}]`);

/** '' when the item holds nothing that can be read. */
export function describeServerItem(item: JsonObject, type: string): string {
  const describe = Object.hasOwn(describers, type) ? describers[type] : undefined;
  return (describe?.(item) ?? [])
    .filter((text) => text !== '')
    .join('\n')
    .slice(0, maxLength);
}
