import type { Conversation, Reasoning, Sampling } from '../../chat/conversation.ts';
import type { ReadRequest, ReadRequestContext } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { readCacheOptions } from '../shared/cache-breakpoints.ts';
import { readOutputFormat } from '../shared/output-format.ts';
import { readReasoning } from '../shared/reasoning.ts';
import { readToolChoice, readTools } from '../shared/tools.ts';
import { readSearchOptions } from '../shared/web-search-options.ts';
import type { Echo } from '../shared/wire.ts';
import { optionalBoolean, optionalLimit, optionalNumber, optionalString } from './read-fields.ts';
import { readMessages } from './read-messages.ts';

/** Fields that are read below, that carry no meaning for the conversation, or whose loss is declared by name. Any other field is a declared loss. */
const understood: ReadonlySet<string> = new Set(
  (
    'model messages input instructions stream stream_options tools functions tool_choice function_call parallel_tool_calls response_format text ' +
    'max_tokens max_completion_tokens max_output_tokens temperature top_p top_k stop seed random_seed presence_penalty frequency_penalty n logprobs ' +
    'top_logprobs logit_bias user safety_identifier metadata verbosity service_tier prompt_cache_key prompt_cache_options reasoning_effort reasoning thinking ' +
    'enable_thinking thinking_budget store modalities web_search_options'
  ).split(' '),
);

/** What only passes as it is. Legacy completions have no roles, and echo: there is nothing to translate them to. */
export const onlyVerbatim = {
  complete: 'This model is not served as a legacy completion: ask /v1/chat/completions for it.',
  moderate: 'This model is not served for moderation.',
  decide: 'This model is not served for decisions.',
} as const;

/** A body of `POST /v1/chat/completions` → the canonical request. */
export function readRequest(body: unknown, context: ReadRequestContext): ReadRequest {
  const source = asObject(body);
  if (!source) throw invalid('body', 'The request body must be a JSON object.');
  const { operation } = context;
  if (operation === 'complete' || operation === 'moderate' || operation === 'decide') throw invalid('model', onlyVerbatim[operation]);
  const losses = new Losses();
  const { system, turns } = readMessages(source, losses);
  const legacyFunctions = own(source, 'tools') === undefined && own(source, 'functions') !== undefined;
  const conversation: Conversation = {
    system,
    turns,
    tools: [...readTools(source), ...readSearchOptions(source)],
    sampling: readSampling(source),
    stream: context.streamForm !== 'whole',
  };
  const optional: Partial<Conversation> = {
    toolChoice: readToolChoice(source),
    parallelToolCalls: legacyFunctions ? false : optionalBoolean(source, 'parallel_tool_calls'),
    output: readOutputFormat(source),
    reasoning: readReasoning(source) as Reasoning,
    user: optionalString(source, 'user'),
    safetyIdentifier: optionalString(source, 'safety_identifier'),
    metadata: optionalObject(source, 'metadata'),
    verbosity: optionalString(source, 'verbosity') ?? asString(own(own(source, 'text'), 'verbosity')),
    serviceTier: optionalString(source, 'service_tier'),
    promptCacheKey: optionalString(source, 'prompt_cache_key'),
  } as Partial<Conversation>;
  assignPresent(conversation, optional);
  readCacheOptions(source, conversation, losses);
  declareUnread(source, losses);
  const echo: Echo = { includeUsage: own(own(source, 'stream_options'), 'include_usage') === true, legacyFunctions };
  return { conversation, losses: losses.list, echo };
}

function readSampling(source: JsonObject): Sampling {
  const sampling: Sampling = {};
  assignPresent(sampling, {
    maxTokens: optionalLimit(source, 'max_completion_tokens') ?? optionalLimit(source, 'max_tokens') ?? optionalLimit(source, 'max_output_tokens'),
    temperature: optionalNumber(source, 'temperature'),
    topP: optionalNumber(source, 'top_p'),
    topK: optionalNumber(source, 'top_k'),
    stop: readStop(own(source, 'stop')),
    seed: optionalNumber(source, 'seed') ?? optionalNumber(source, 'random_seed'),
    presencePenalty: optionalNumber(source, 'presence_penalty'),
    frequencyPenalty: optionalNumber(source, 'frequency_penalty'),
    choices: readChoices(source),
    logprobs: optionalBoolean(source, 'logprobs'),
    topLogprobs: optionalNumber(source, 'top_logprobs'),
    logitBias: readLogitBias(own(source, 'logit_bias')),
  } as Sampling);
  return sampling;
}

function readStop(value: unknown): string[] | undefined {
  if (value === undefined) return undefined;
  const list = typeof value === 'string' ? [value] : asArray(value);
  if (!list?.every((entry): entry is string => typeof entry === 'string')) throw invalid('stop', '`stop` must be a string or a list of strings.');
  return list.length === 0 ? undefined : list;
}

function readChoices(source: JsonObject): number | undefined {
  const choices = optionalNumber(source, 'n');
  if (choices !== undefined && (!Number.isInteger(choices) || choices < 1)) throw invalid('n', '`n` must be an integer of at least 1.');
  return choices;
}

function readLogitBias(value: unknown): Record<string, number> | undefined {
  if (value === undefined) return undefined;
  const entries = Object.entries(asObject(value) ?? { wrong: null });
  if (entries.some(([, bias]) => asNumber(bias) === undefined)) throw invalid('logit_bias', '`logit_bias` must be an object of numbers.');
  // A prototype-free copy: token ids are keys that the caller chose.
  return entries.length === 0 ? undefined : Object.assign(Object.create(null) as Record<string, number>, Object.fromEntries(entries));
}

function optionalObject(source: JsonObject, key: string): JsonObject | undefined {
  const value = own(source, key);
  if (value === undefined) return undefined;
  const object = asObject(value);
  if (!object) throw invalid(key, `\`${key}\` must be an object.`);
  return object;
}

/** Sets what is there, so that absent stays absent (`exactOptionalPropertyTypes` in spirit, and readable in logs of tests). */
function assignPresent<T extends object>(target: T, values: Partial<T>): void {
  for (const [key, value] of Object.entries(values)) if (value !== undefined) (target as Record<string, unknown>)[key] = value;
}

/** What nothing reads; of two fields, one value asks for what happens anyway. */
function declareUnread(source: JsonObject, losses: Losses): void {
  losses.unread('', source, understood);
  const store = own(source, 'store');
  if (store !== undefined && store !== false) losses.dropped('store', 'The upstream keeps nothing of a translated request.');
  const modalities = own(source, 'modalities');
  if (modalities !== undefined && !asArray(modalities)?.every((entry) => entry === 'text'))
    losses.dropped('modalities', 'Only text can be generated in a translation.');
}
