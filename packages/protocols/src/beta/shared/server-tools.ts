/**
 * Blocks of tools that the vendor ran itself (web search, code execution, MCP servers), as text for upstreams that have no such blocks: what the
 * model had found out stays part of the conversation.
 */
import { asArray, asObject, asString, own } from '../../kit/read.ts';

/** More than a reader of a history needs of one result; a page that was fetched may be a book. */
const maxResultLength = 20_000;
/** Texts of one result, however many an untrusted history holds. */
const maxTexts = 200;
const maxSteps = 2000;

/** Whether a block of this type holds what such a tool found. */
export const isServerResult = (type: string): boolean => /^[a-z_]{1,60}_tool_result$/.test(type);

/** The block as text; '' when it says nothing readable, null when it is no such block. */
export function describeServerTool(block: unknown, type: string): string | null {
  if (type === 'server_tool_use' || type === 'mcp_tool_use') {
    const server = asString(own(block, 'server_name'));
    const name = asString(own(block, 'name')) ?? type;
    return `[${server === undefined ? name : `${server}.${name}`}: ${JSON.stringify(own(block, 'input') ?? {})}]`.slice(0, maxResultLength);
  }
  if (!isServerResult(type)) return null;
  const text = textsOf(own(block, 'content')).join('\n').slice(0, maxResultLength);
  return text === '' ? '' : `[${type.replace(/_tool_result$/, '')} result]\n${text}`;
}

/** Everything readable in a result: texts, titles with their addresses, output and errors of code. Opaque fields stay out. */
function textsOf(content: unknown): string[] {
  const texts: string[] = [];
  const waiting: unknown[] = [content];
  for (let steps = 0; waiting.length > 0 && texts.length < maxTexts && steps < maxSteps; steps++) {
    const value = waiting.shift();
    const list = asArray(value);
    if (list) {
      waiting.unshift(...list.slice(0, maxTexts));
      continue;
    }
    const text = asString(value);
    if (text !== undefined) texts.push(text);
    if (!asObject(value)) continue;
    const link = [asString(own(value, 'title')), asString(own(value, 'url'))].filter((part) => part !== undefined && part !== '').join(' — ');
    const plain = ['text', 'stdout', 'stderr', 'error_code', 'data'].map((field) => asString(own(value, field)) ?? '');
    for (const one of [link, ...plain]) if (one !== '') texts.push(one);
    const inner = own(value, 'content') ?? own(value, 'source');
    if (inner !== undefined && typeof inner === 'object') waiting.unshift(inner);
  }
  return texts;
}
