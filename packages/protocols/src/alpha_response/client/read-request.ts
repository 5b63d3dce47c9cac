/** A caller's Responses body into the canonical request. */
import { readCacheOptions } from '../../alpha/index.ts';
import type { Conversation, OutputFormat, Reasoning, Sampling } from '../../chat/conversation.ts';
import type { ReadRequest, ReadRequestContext, StateHolder } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asBoolean, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { cannotCompact, compactsNothing, ItemReader } from '../shared/read-items.ts';
import { included } from '../shared/token-probabilities.ts';
import { declareToolLosses, noTools, readToolChoice, readTools } from '../shared/tools.ts';
import { laterRun, runsAtOnce } from '../shared/turns/background-options.ts';
import { echoFields, type RequestEcho } from '../shared/wire.ts';

/** Fields that mean nothing outside their vendor: named as lost when a caller sent more than the default. */
const unsupported: Readonly<Record<string, { detail: string; harmless?: unknown }>> = {
  truncation: { detail: 'Input is never cut silently; a request that is too long is answered with an error.', harmless: 'disabled' },
  max_tool_calls: { detail: 'It limits tools that run at the vendor.' },
  context_management: { detail: 'Compaction is done by the vendor.' },
  prompt_cache_retention: { detail: 'How long a cache is kept is a matter of the vendor.' },
  moderation: { detail: 'Moderation is done by the vendor.' },
};

/** Fields that name state at a vendor; leaving them out would answer another question than was asked. */
const stateful: Readonly<Record<string, string>> = {
  conversation: 'Conversations are not stored here; send the items in input.',
  prompt: 'Prompt templates are not stored here; send instructions and input.',
};

/** Fields that are read, that do not change what is asked, or whose loss is declared by name. Any other field is a declared loss. */
const understood: ReadonlySet<string> = new Set([
  ...(
    'model input instructions tools tool_choice parallel_tool_calls text reasoning max_output_tokens temperature top_p user safety_identifier metadata ' +
    'service_tier prompt_cache_key prompt_cache_options stream stream_options store background background_options include top_logprobs previous_response_id client_metadata'
  ).split(' '),
  ...Object.keys(unsupported),
  ...Object.keys(stateful),
]);

/** A compacted history is sealed by its vendor: there is nothing to translate it to. */
export const onlyVerbatim = { compact: compactsNothing } as const;

export function readRequest(value: unknown, context: ReadRequestContext): ReadRequest {
  if (context.operation === 'compact') throw cannotCompact('model');
  const body = asObject(value);
  if (!body) throw invalid('', 'The body must be a JSON object.');
  refuseState(body, context.state);
  const losses = new Losses();
  const tools = noTools();
  readTools(own(body, 'tools'), 'tools', tools);
  declareToolLosses(own(body, 'tools'), losses);
  const items = new ItemReader(losses, tools);
  const instructions = readInstructions(body, items);
  items.readInput(own(body, 'input'));
  declareUnsupported(body, context, losses);
  const echo: RequestEcho = { fields: echoFields(body), clientTools: tools.client, namespaced: tools.namespaced };
  const conversation: Conversation = {
    system: [...instructions, ...items.system],
    turns: items.turns,
    tools: tools.tools,
    ...defined({
      toolChoice: readToolChoice(own(body, 'tool_choice')),
      parallelToolCalls: boolean(body, 'parallel_tool_calls'),
      output: readFormat(own(own(body, 'text'), 'format')),
      reasoning: readReasoning(own(body, 'reasoning'), losses),
      user: text(body, 'user'),
      safetyIdentifier: text(body, 'safety_identifier'),
      metadata: asObject(own(body, 'metadata')),
      verbosity: asString(own(own(body, 'text'), 'verbosity')),
      serviceTier: text(body, 'service_tier'),
      promptCacheKey: text(body, 'prompt_cache_key'),
    }),
    sampling: readSampling(body),
    stream: boolean(body, 'stream') ?? false,
  };
  readCacheOptions(body, conversation, losses);
  return { conversation, losses: losses.list, echo };
}

function refuseState(body: JsonObject, state: StateHolder | undefined): void {
  for (const [field, reason] of Object.entries(stateful)) if (own(body, field) !== undefined) throw invalid(field, reason);
  if (state !== 'gateway' && own(body, 'background') === true)
    throw invalid('background', 'This model cannot run in the background; leave the field out or use stream.');
}

function declareUnsupported(body: JsonObject, { state, operation }: ReadRequestContext, losses: Losses): void {
  for (const [field, { detail, harmless }] of Object.entries(unsupported)) {
    const value = own(body, field);
    if (value !== undefined && value !== harmless) losses.add(field, 'dropped', detail);
  }
  if (laterRun(own(body, 'background_options'))) losses.add('background_options', 'dropped', runsAtOnce);
  losses.unread('', body, understood);
  if (state !== 'gateway' && own(body, 'previous_response_id') !== undefined)
    losses.add('previous_response_id', 'dropped', 'The turn is not stored here; only the input of this request was used.');
  if (state === undefined && operation === 'generate' && own(body, 'store') === true)
    losses.add('store', 'dropped', 'The upstream keeps nothing of a translated request.');
  (asArray(own(body, 'include')) ?? []).forEach((entry, index) => {
    if (entry !== 'reasoning.encrypted_content' && entry !== included) losses.add(`include.${index}`, 'dropped', 'It asks for data that only its vendor has.');
  });
}

/** A string; the response object also repeats instructions as items, which clients send back. */
function readInstructions(body: JsonObject, items: ItemReader): { text: string }[] {
  const value = own(body, 'instructions');
  if (value === undefined) return [];
  if (typeof value === 'string') return [{ text: value }];
  if (!Array.isArray(value)) throw invalid('instructions', 'must be a string');
  items.readInput(value);
  return [];
}

function readSampling(body: JsonObject): Sampling {
  const top = number(body, 'top_logprobs') || undefined;
  return defined({
    maxTokens: limit(body, 'max_output_tokens'),
    temperature: number(body, 'temperature'),
    topP: number(body, 'top_p'),
    logprobs: top !== undefined || asArray(own(body, 'include'))?.includes(included) ? true : undefined,
    topLogprobs: top,
  });
}

const efforts: ReadonlySet<string> = new Set(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);
const summaries: ReadonlySet<string> = new Set(['auto', 'concise', 'detailed', 'none']);

const reasoningFields: ReadonlySet<string> = new Set(['effort', 'summary', 'generate_summary']);
/** What happens anyway. */
const usualReasoning: Readonly<Record<string, unknown>> = { context: 'auto', mode: 'standard' };

function readReasoning(value: unknown, losses: Losses): Reasoning | undefined {
  const object = asObject(value);
  if (!object) return undefined;
  const usual = Object.keys(usualReasoning).filter((field) => own(object, field) === usualReasoning[field]);
  losses.unread('reasoning', object, usual.length === 0 ? reasoningFields : new Set([...reasoningFields, ...usual]));
  const effort = asString(own(object, 'effort'));
  const summary = asString(own(object, 'summary')) ?? asString(own(object, 'generate_summary'));
  if (effort !== undefined && !efforts.has(effort)) throw invalid('reasoning.effort', `must be one of ${[...efforts].join(', ')}`);
  if (summary !== undefined && !summaries.has(summary)) throw invalid('reasoning.summary', 'must be auto, concise or detailed');
  if (effort === undefined && summary === undefined) return undefined;
  return defined({
    enabled: effort === undefined ? undefined : effort !== 'none',
    effort: effort as Reasoning['effort'],
    summary: summary as Reasoning['summary'],
  });
}

function readFormat(value: unknown): OutputFormat | undefined {
  const format = asObject(value);
  const type = asString(own(format, 'type'));
  if (!format || type === undefined) return undefined;
  if (type === 'text') return { type: 'text' };
  if (type === 'json_object') return { type: 'json' };
  if (type !== 'json_schema') throw invalid('text.format.type', 'must be text, json_object or json_schema');
  const schema = own(format, 'schema');
  if (!asObject(schema)) throw invalid('text.format.schema', 'must be an object');
  return {
    type: 'schema',
    schema,
    ...defined({ name: asString(own(format, 'name')), description: asString(own(format, 'description')), strict: asBoolean(own(format, 'strict')) }),
  };
}

function number(body: JsonObject, field: string): number | undefined {
  const value = own(body, field);
  const read = asNumber(value);
  if (value !== undefined && read === undefined) throw invalid(field, 'must be a number');
  return read;
}

function limit(body: JsonObject, field: string): number | undefined {
  const read = number(body, field);
  if (read !== undefined && read < 0) throw invalid(field, 'must be a number, 0 or more');
  return read;
}

function text(body: JsonObject, field: string): string | undefined {
  const value = own(body, field);
  if (value !== undefined && typeof value !== 'string') throw invalid(field, 'must be a string');
  return value;
}

function boolean(body: JsonObject, field: string): boolean | undefined {
  const value = own(body, field);
  if (value !== undefined && typeof value !== 'boolean') throw invalid(field, 'must be true or false');
  return value;
}

/** The same object without the keys that are undefined. */
function defined<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
