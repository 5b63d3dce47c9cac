/** The shapes this folder prints on a Responses wire, and what its reader puts aside for its writer. What it reads is untrusted and goes through `kit/read.ts`. */
import type { JsonObject } from '../../kit/read.ts';
import type { ClientTool } from './client-tools.ts';

/** Text of an output message. */
export interface OutputTextPart {
  type: 'output_text';
  annotations: unknown[];
  logprobs: unknown[];
  text: string;
}

/** Refusal of an output message. */
export interface RefusalContentPart {
  type: 'refusal';
  refusal: string;
}

/** Token counts; `input_tokens` includes cached tokens. */
export interface WireUsage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number; cache_write_tokens?: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
}

/** What `readRequest` keeps for the reply writer; opaque to everyone else. */
export interface RequestEcho {
  /** Request fields that every response object repeats, since clients read their configuration from it. */
  fields: JsonObject;
  /** Tools that the caller runs and only this protocol knows, by name: their calls become items of their own kinds. */
  clientTools: ReadonlyMap<string, ClientTool>;
  /** Name as sent upstream → the namespace and name the caller gave. */
  namespaced: ReadonlyMap<string, { namespace: string; name: string }>;
}

/** Request fields that the response object repeats, with the value used when the caller sent none. */
const echoDefaults: Readonly<JsonObject> = {
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'auto',
  store: true,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
  user: null,
  metadata: {},
};

/** The echo of one request body: only known names, never a caller's own keys. */
export function echoFields(body: JsonObject): JsonObject {
  const fields: JsonObject = {};
  for (const key of Object.keys(echoDefaults)) {
    const value = Object.hasOwn(body, key) ? body[key] : undefined;
    fields[key] = value ?? echoDefaults[key];
  }
  return fields;
}

/** The response object as `response.created` carries it; a terminal event carries the same with status, output and usage filled in. */
export function newResponse(id: string, model: string, createdAt: number, fields: JsonObject = echoFields({})): JsonObject {
  return {
    id,
    object: 'response',
    created_at: createdAt,
    status: 'in_progress',
    completed_at: null,
    error: null,
    incomplete_details: null,
    model,
    output: [],
    // Without a store nothing that the caller named was used to build the context of this reply; a stored turn says what it goes on from.
    previous_response_id: null,
    ...fields,
    usage: null,
  };
}

/** One event of the stream: `event:` always equals `data.type`. */
export const printEvent = (type: string, sequence: number, fields: JsonObject): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...fields })}\n\n`;

/** Events after which nothing follows. */
export const terminalEvents: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** The `raw` block that stands for a citation of the text block before it. */
export const annotationKind = 'output_text.annotation';
