/** A tool as its server describes it, kept as it was written. */
import { createHash } from 'node:crypto';
import { mcpToolName } from '@model-gateway/contracts';
import { ToolSchema } from '@modelcontextprotocol/core';
import { type ParamHeader, readParamHeaders } from '../protocol/param-headers.ts';
import { parseJson } from '../protocol/raw-json.ts';

export interface Tool {
  /** As its server calls it. */
  name: string;
  title: string;
  description: string;
  /** JSON text of the whole description, names and all, as the server wrote it. */
  text: string;
  /** What the text costs a model that is offered it, estimated. */
  tokens: number;
  /** What the description alone costs. */
  descriptionTokens: number;
  paramHeaders: readonly ParamHeader[];
  /** Of description and schemas: another one means that the tool was changed. */
  hash: string;
}

/** Models read some four bytes of JSON as a token. */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

/** Or why it is not offered. */
function readTool(text: string): Tool | { fault: string } {
  const { success, data } = ToolSchema.safeParse(parseJson(text));
  if (!success) return { fault: 'a tool is described in a way that the protocol does not allow' };
  const { name, title, description = '', inputSchema, outputSchema } = data;
  if (!mcpToolName.test(name)) return { fault: 'the name of a tool has characters that clients refuse' };
  const paramHeaders = readParamHeaders(inputSchema);
  if (paramHeaders === null) return { fault: `${name}: x-mcp-header stands where it may not` };
  const hash = createHash('sha256')
    .update(JSON.stringify([description, inputSchema, outputSchema ?? null]))
    .digest('hex');
  const descriptionTokens = description === '' ? 0 : estimateTokens(description);
  return { name, title: title ?? '', description, text, tokens: estimateTokens(text), descriptionTokens, paramHeaders, hash };
}

/** Of a server's list, in its order; of tools with one name the first, since models' vendors refuse a request in which a name stands twice. */
export function readTools(texts: readonly string[]): { tools: Tool[]; faults: string[] } {
  const tools = new Map<string, Tool>();
  const faults: string[] = [];
  for (const read of texts.map(readTool)) {
    if ('fault' in read) faults.push(read.fault);
    else if (tools.has(read.name)) faults.push(`${read.name}: listed more than once, and the first alone is offered`);
    else tools.set(read.name, read);
  }
  return { tools: [...tools.values()], faults };
}
