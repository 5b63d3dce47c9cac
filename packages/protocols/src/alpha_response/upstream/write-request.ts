/** The canonical request into a Responses body. */
import type { Thinking } from '@model-gateway/model-catalog';
import { settleBreakpoints } from '../../alpha/index.ts';
import type { Conversation, OutputFormat, Reasoning, Sampling } from '../../chat/conversation.ts';
import type { WriteRequestContext, WrittenRequest } from '../../contract/index.ts';
import { pairCallIds } from '../../kit/call-ids.ts';
import { fillPrompt } from '../../kit/empty-prompt.ts';
import { familyOf } from '../../kit/family.ts';
import { Losses } from '../../kit/losses.ts';
import { type JsonObject, own } from '../../kit/read.ts';
import { fitServiceTier } from '../../kit/service-tier.ts';
import { shortId } from '../../kit/short-id.ts';
import { keepStrict } from '../../kit/strict-schema.ts';
import { bothUsers } from '../../kit/user-label.ts';
import { included } from '../shared/token-probabilities.ts';
import { writeToolChoice, writeTools } from '../shared/tools.ts';
import { withOwnSearch } from '../shared/web-search.ts';
import { ItemWriter } from './write-items.ts';

/** Less is a 400. */
const fewestTokens = 16;

export function writeRequest(asked: Conversation, context: WriteRequestContext): WrittenRequest {
  const conversation = { ...asked, tools: withOwnSearch(asked.tools, context.target) };
  const losses = new Losses();
  const relaxedToolSchemas = new Map<string, unknown>();
  const tools = writeTools(conversation, losses, relaxedToolSchemas);
  const body: JsonObject = {
    model: context.target.upstreamModelId,
    ...writeInput(conversation, context, losses),
    ...(tools.length > 0 && { tools }),
    tool_choice: tools.length > 0 ? writeToolChoice(conversation, losses) : writeToolChoice({ ...conversation, tools: [] }, losses),
    ...(tools.length > 0 && { parallel_tool_calls: conversation.parallelToolCalls }),
    reasoning: writeReasoning(conversation.reasoning, familyOf(context.target).thinking, losses),
    text: writeText(conversation, losses),
  };
  if (context.operation === 'generate') Object.assign(body, writeCall(conversation, context, own(body['reasoning'], 'effort'), losses));
  for (const key of Object.keys(body)) if (body[key] === undefined) delete body[key];
  return { body, losses: losses.list, ...(relaxedToolSchemas.size > 0 && { relaxedToolSchemas }) };
}

/** What only a real call has: limits, delivery and storage; counting refuses these fields. */
function writeCall(conversation: Conversation, context: WriteRequestContext, effort: unknown, losses: Losses): JsonObject {
  declareLosses(conversation, losses);
  const { sampling } = conversation;
  const probable = asksProbabilities(sampling, context, effort, losses);
  // Models that do not reason answer 400 to a request for encrypted reasoning.
  const include = [...(familyOf(context.target).thinking.style === 'none' ? [] : ['reasoning.encrypted_content']), ...(probable ? [included] : [])];
  if (sampling.maxTokens !== undefined && sampling.maxTokens < fewestTokens)
    losses.add('max_tokens', 'downgraded', `Raised to ${fewestTokens}, the least this endpoint takes.`);
  return {
    max_output_tokens: sampling.maxTokens === undefined ? undefined : Math.max(fewestTokens, sampling.maxTokens),
    temperature: sampling.temperature,
    top_p: sampling.topP,
    ...bothUsers(conversation, losses),
    service_tier: fitServiceTier(conversation.serviceTier, losses),
    prompt_cache_key: conversation.promptCacheKey,
    // The caller holds the conversation and no later request names this reply, so the upstream has nothing to keep. Reasoning comes back
    // encrypted instead, sealed for the caller, so that any account or node can take the next turn.
    store: false,
    include: include.length > 0 ? include : undefined,
    top_logprobs: probable ? sampling.topLogprobs : undefined,
    stream: context.stream || undefined,
  };
}

/** Models whose sampling is fixed answer 400 when asked how likely their tokens were, unless they do not reason. */
function asksProbabilities({ logprobs, topLogprobs }: Sampling, { target }: WriteRequestContext, effort: unknown, losses: Losses): boolean {
  if (!logprobs) {
    if (topLogprobs) losses.add('top_logprobs', 'dropped', 'Token probabilities were not asked for.');
    return false;
  }
  const family = familyOf(target);
  if (!family.sampling.fixed || (family.thinking.optional && (effort ?? (family.thinking.offByDefault ? 'none' : undefined)) === 'none')) return true;
  losses.add('logprobs', 'dropped', 'This model tells no token probabilities.');
  if (topLogprobs) losses.add('top_logprobs', 'dropped', 'This model tells no token probabilities.');
  return false;
}

function writeInput(conversation: Conversation, context: WriteRequestContext, losses: Losses): JsonObject {
  const ids = pairCallIds(conversation, { fit: shortId, mint: () => context.mintId('call_') });
  const writer = new ItemWriter(context, ids, losses);
  // A request without any item is refused.
  const says = conversation.turns.some((turn) => turn.parts.length > 0);
  // Instructions carry no breakpoint.
  const inMessages = familyOf(context.target).cacheBreakpoints && conversation.system.some((part) => part.cache);
  const [first, rest] = says && !inMessages ? [conversation.system[0], conversation.system.slice(1)] : [undefined, conversation.system];
  if (!inMessages && conversation.system.some((part) => part.cache))
    losses.add('system.cache_control', 'dropped', 'The upstream places cache marks by itself.');
  // `instructions` is what every server knows; further parts keep their borders as messages in front.
  if (rest.length > 0) writer.writeTurn({ role: 'system', parts: rest.map((part) => ({ type: 'text', ...part })) }, 'system');
  for (const turn of conversation.turns) writer.writeTurn(turn, 'messages');
  if (writer.items.length === 0) writer.writeTurn({ role: 'user', parts: [{ type: 'text', text: fillPrompt(losses) }] }, 'messages');
  const options = familyOf(context.target).cacheBreakpoints ? settleBreakpoints(writer.items, '12h', conversation.cacheMode, losses) : undefined;
  // Where a mark was left out, the vendor's own breakpoint may stand in for it.
  if (writer.unmarked && options) delete options['mode'];
  return {
    instructions: first?.text,
    input: writer.items,
    // A counter takes no options.
    ...(options && context.operation === 'generate' && Object.keys(options).length > 0 && { prompt_cache_options: options }),
  };
}

/** Fields without a place here, by where callers find them. */
function declareLosses(conversation: Conversation, losses: Losses): void {
  const { sampling } = conversation;
  const missing: Record<string, unknown> = {
    stop: sampling.stop?.length ? sampling.stop : undefined,
    top_k: sampling.topK,
    seed: sampling.seed,
    presence_penalty: sampling.presencePenalty || undefined,
    frequency_penalty: sampling.frequencyPenalty || undefined,
    n: sampling.choices === 1 ? undefined : sampling.choices,
    logit_bias: sampling.logitBias,
  };
  for (const [field, value] of Object.entries(missing)) if (value !== undefined) losses.add(field, 'dropped', 'This endpoint has no such field.');
  if (conversation.metadata && Object.keys(conversation.metadata).length > 0)
    losses.add('metadata', 'dropped', 'It labels stored replies, and none is stored upstream.');
}

const effortOf = (budget: number): Reasoning['effort'] => (budget <= 4096 ? 'low' : budget <= 16_384 ? 'medium' : 'high');

function writeReasoning(reasoning: Reasoning | undefined, thinking: Thinking, losses: Losses): JsonObject | undefined {
  if (!reasoning) return undefined;
  let effort = reasoning.effort;
  const { budget } = reasoning;
  if (budget !== undefined && budget > 0) losses.add('reasoning.budget', 'downgraded', 'A budget in tokens becomes a level of effort.');
  if (effort === undefined && budget !== undefined && budget > 0 && reasoning.enabled !== false) effort = effortOf(budget);
  if (effort === undefined && (reasoning.enabled === false || budget === 0)) effort = writeOff(thinking, losses);
  const summary = reasoning.summary === 'none' ? undefined : reasoning.summary;
  if (effort === undefined && summary === undefined) return undefined;
  return { ...(effort !== undefined && { effort }), ...(summary !== undefined && { summary }) };
}

/** No word means "off" to every model: some refuse `none`, some `minimal`, some the whole field. */
function writeOff({ style, efforts, optional }: Thinking, losses: Losses): Reasoning['effort'] {
  if (style === 'none') return undefined;
  if (style === 'effort' && optional) return 'none';
  const [min] = style === 'effort' ? efforts : [];
  if (min === undefined) losses.add('reasoning.enabled', 'dropped', 'The model decides whether it reasons.');
  else losses.add('reasoning.enabled', 'downgraded', 'This model always reasons; the least effort was asked for.');
  return min;
}

function writeText(conversation: Conversation, losses: Losses): JsonObject | undefined {
  const format = conversation.output ? writeFormat(conversation.output, losses) : undefined;
  if (!format && conversation.verbosity === undefined) return undefined;
  return { ...(format && { format }), ...(conversation.verbosity !== undefined && { verbosity: conversation.verbosity }) };
}

function writeFormat(output: OutputFormat, losses: Losses): JsonObject {
  if (output.type === 'text') return { type: 'text' };
  if (output.type === 'json') return { type: 'json_object' };
  const strict = keepStrict(output.strict, output.schema, 'response_format.strict', losses);
  return {
    type: 'json_schema',
    // Mandatory here, unlike elsewhere.
    name: output.name ?? 'response',
    schema: output.schema,
    ...(output.description !== undefined && { description: output.description }),
    ...(strict !== undefined && { strict }),
  };
}
