import type { Conversation, OutputFormat, Reasoning, Sampling } from '../../chat/conversation.ts';
import type { WriteRequestContext, WrittenRequest } from '../../contract/index.ts';
import { fillPrompt } from '../../kit/empty-prompt.ts';
import { Losses } from '../../kit/losses.ts';
import type { JsonObject } from '../../kit/read.ts';
import { fitServiceTier } from '../../kit/service-tier.ts';
import { keepStrict } from '../../kit/strict-schema.ts';
import { typeUnions } from '../../kit/typed-unions.ts';
import { bothUsers, fitUser, onlyUser } from '../../kit/user-label.ts';
import { settleBreakpoints } from '../shared/cache-breakpoints.ts';
import { closeBody } from '../shared/closed-fields.ts';
import { type ChatFamily, chatFamily } from '../shared/families.ts';
import { fitForcedChoice } from '../shared/forced-choice.ts';
import { sampledFields } from '../shared/normalize.ts';
import { writeOutputFormat } from '../shared/output-format.ts';
import { canStopThinking, thinksAbout, writeReasoning } from '../shared/reasoning.ts';
import { writeTools } from '../shared/tools.ts';
import { fitToolsBesideThinking } from '../shared/tools-beside-thinking.ts';
import { withoutOwnSearch, writeSearchOptions } from '../shared/web-search-options.ts';
import type { WireRequestMessage } from '../shared/wire.ts';
import { writeMessages } from './write-messages.ts';

/** The canonical request → a body of `POST /v1/chat/completions`, as this upstream's model takes it. */
export function writeRequest(asked: Conversation, context: WriteRequestContext): WrittenRequest {
  const losses = new Losses();
  const family = chatFamily(context.target);
  const conversation = fitToolsBesideThinking(fitForcedChoice(asked, family, losses), context.target, family, losses);
  const relaxedToolSchemas = new Map<string, unknown>();
  const messages = writeMessages(conversation, context, family, losses);
  if (messages.length === 0) messages.push({ role: 'user', content: fillPrompt(losses) });
  const body: JsonObject = {
    model: context.target.upstreamModelId,
    messages,
    ...writeTools(withoutOwnSearch(conversation.tools, context.target), conversation.toolChoice, family, losses, relaxedToolSchemas),
    ...writeSearchOptions(conversation.tools, context.target, losses),
    ...writeSampling(conversation, family, losses),
    ...writeThinkingSetting(conversation.reasoning, context, family, losses),
    ...writeCallerFields(conversation, family, losses),
  };
  if (conversation.parallelToolCalls !== undefined && body['tools'] !== undefined) body['parallel_tool_calls'] = conversation.parallelToolCalls;
  if (conversation.output) writeOutput(conversation.output, body, messages, family, losses);
  if (context.stream) {
    body['stream'] = true;
    if (family.streamOptions) body['stream_options'] = { include_usage: true };
  }
  const cacheOptions = family.cacheBreakpoints ? settleBreakpoints(messages, '30m', conversation.cacheMode, losses) : undefined;
  if (cacheOptions) body['prompt_cache_options'] = cacheOptions;
  if (family.onlyFields) closeBody(body, family.onlyFields, losses);
  const { output } = conversation;
  const checked = output?.type === 'schema' && !family.jsonSchema;
  return {
    body,
    losses: losses.list,
    ...(checked && { emulation: { schema: output.schema } }),
    ...(relaxedToolSchemas.size > 0 && { relaxedToolSchemas }),
  };
}

/** What asks for reasoning; nothing asks for it once what stands for the reasoning of earlier calls was refused. */
function writeThinkingSetting(reasoning: Reasoning | undefined, context: WriteRequestContext, family: ChatFamily, losses: Losses): JsonObject {
  const refused =
    context.signaturesRefused?.about === 'reasoning' && family.demandsReasoning !== 'never' && family.reasoning === 'thinking-type' && canStopThinking(family);
  if (!refused || !thinksAbout(reasoning, family)) return reasoning ? writeReasoning(reasoning, family, losses) : {};
  losses.add('thinking', 'dropped', 'The calls being answered came without reasoning that can be replayed.');
  return writeReasoning({ enabled: false }, family, losses);
}

/** Fields that a family may refuse unless they have their default. */
const tuned = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'logprobs', 'top_logprobs', 'logit_bias'] as const;

function writeSampling({ sampling, reasoning }: Conversation, family: ChatFamily, losses: Losses): JsonObject {
  const fields: JsonObject = {
    [family.maxTokensField]: sampling.maxTokens,
    temperature: family.ownSampling ? sampling.temperature : limitTemperature(sampling.temperature, family, losses),
    top_p: sampling.topP,
    stop: sampling.stop,
    [family.seedField]: sampling.seed,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    logprobs: sampling.logprobs,
    top_logprobs: sampling.topLogprobs,
    logit_bias: sampling.logitBias,
    ...writeTopK(sampling, family, losses),
  };
  if ((sampling.choices ?? 1) > 1) losses.add('n', 'dropped', 'Several choices are only carried between equal protocols.');
  // Without reasoning the same model samples as others do, where it can be turned off.
  const asksNothing = reasoning?.enabled === undefined && reasoning?.effort === undefined && !reasoning?.budget;
  const off = reasoning?.enabled === false || reasoning?.effort === 'none' || (asksNothing && family.reasonsOnlyAsked);
  const samplesFreely = family.noEffort === 'none' && off;
  if (family.ownSampling) dropSampling(fields, losses);
  else if (family.fixedSampling && !samplesFreely) dropTuned(fields, losses);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function limitTemperature(asked: number | undefined, { maxTemperature }: ChatFamily, losses: Losses): number | undefined {
  if (asked === undefined || asked <= maxTemperature) return asked;
  losses.add('temperature', 'downgraded', `Limited to ${maxTemperature}, the most that this model takes.`);
  return maxTemperature;
}

function writeTopK(sampling: Sampling, family: ChatFamily, losses: Losses): JsonObject {
  if (sampling.topK === undefined) return {};
  if (family.topK) return { top_k: sampling.topK };
  losses.add('top_k', 'dropped', 'This upstream does not take top_k.');
  return {};
}

const isUsual = (field: string, value: unknown): boolean => (field === 'temperature' || field === 'top_p' ? value === 1 : value === 0 || value === false);

function dropTuned(fields: JsonObject, losses: Losses): void {
  for (const field of tuned) {
    const value = fields[field];
    if (value === undefined || isUsual(field, value)) continue;
    delete fields[field];
    losses.add(field, 'dropped', 'This model refuses any value but its own.');
  }
}

function dropSampling(fields: JsonObject, losses: Losses): void {
  for (const field of sampledFields) {
    const value = fields[field];
    delete fields[field];
    if (value !== undefined && !isUsual(field, value)) losses.add(field, 'dropped', 'This model refuses any value but its own.');
  }
}

/** Fields about the caller and its account; most vendors refuse those they do not know. */
function writeCallerFields(conversation: Conversation, family: ChatFamily, losses: Losses): JsonObject {
  const { metadata, verbosity, serviceTier, promptCacheKey } = conversation;
  const fields: JsonObject = family.firstParty ? bothUsers(conversation, losses) : {};
  const user = family.firstParty ? undefined : onlyUser(conversation, losses);
  if (user !== undefined) fields['user'] = fitUser(user, losses);
  if (metadata !== undefined && Object.keys(metadata).length > 0) losses.add('metadata', 'dropped', 'Metadata is only taken with stored completions.');
  const own: readonly (readonly [string, string | undefined])[] = [
    ['verbosity', verbosity],
    ['service_tier', family.firstParty ? fitServiceTier(serviceTier, losses) : serviceTier],
    ['prompt_cache_key', promptCacheKey],
  ];
  for (const [field, value] of own) {
    if (value === undefined) continue;
    if (family.firstParty || family.onlyFields?.request.includes(field)) fields[field] = value;
    else losses.add(field, 'dropped', 'This upstream does not take the field.');
  }
  return fields;
}

function withStrictness(output: Extract<OutputFormat, { type: 'schema' }>, losses: Losses): OutputFormat {
  const strict = keepStrict(output.strict, output.schema, 'response_format.json_schema.strict', losses);
  return strict === output.strict ? output : { ...output, strict: strict ?? false };
}

/** The output format; for families without schemas JSON mode, with the schema described in the prompt. */
function writeOutput(output: OutputFormat, body: JsonObject, messages: WireRequestMessage[], family: ChatFamily, losses: Losses): void {
  if (output.type !== 'schema' || family.jsonSchema) {
    if (output.type === 'schema')
      body['response_format'] = writeOutputFormat(withStrictness(family.typedUnions ? { ...output, schema: typeUnions(output.schema) } : output, losses));
    else if (output.type !== 'text') {
      body['response_format'] = writeOutputFormat(output);
      if (!/json/i.test(JSON.stringify(messages))) {
        losses.add('response_format.json_object', 'emulated', 'A sentence that asks for JSON was added, as these upstreams demand.');
        addSystemText(messages, 'Answer with one JSON object.');
      }
    }
    return;
  }
  losses.add('response_format.json_schema', 'emulated', 'JSON was requested and the schema described in the prompt.');
  body['response_format'] = { type: 'json_object' };
  const words = `Answer with one JSON object that fits this JSON schema:\n${JSON.stringify(output.schema)}`;
  addSystemText(messages, words);
}

function addSystemText(messages: WireRequestMessage[], words: string): void {
  const first = messages[0];
  // One system message where it can be: the prompt templates of some open models take no second one.
  if (first?.role === 'system' && typeof first.content === 'string') first.content = `${first.content}\n\n${words}`;
  else messages.unshift({ role: 'system', content: words });
}
