import { type ChatFamily, chatFamily, chatFamilyOfModel, writeReasoning } from '../../alpha/index.ts';
import type { Conversation, OutputFormat } from '../../chat/conversation.ts';
import type { ReplyEmulation, WriteRequestContext, WrittenRequest } from '../../contract/index.ts';
import { fillPrompt } from '../../kit/empty-prompt.ts';
import { settleForcedChoice } from '../../kit/forced-choice.ts';
import { fitTokens } from '../../kit/limit-tokens.ts';
import { Losses } from '../../kit/losses.ts';
import type { JsonObject } from '../../kit/read.ts';
import { asksForStream, isMultimodal } from './endpoint.ts';
import { alwaysThinks, thinksUnasked } from './families.ts';
import { writeTools } from './tools.ts';
import type { WireMessage, WireRequest } from './wire.ts';
import { writeMessages } from './write-messages.ts';

/** The canonical request → a body of the generation endpoints, or of the tokenizer. */
export function writeRequest(asked: Conversation, context: WriteRequestContext): WrittenRequest {
  const losses = new Losses();
  const conversation = fitForcedChoice(asked, context, losses);
  const messages = writeMessages(conversation, context, losses);
  if (messages.length === 0) messages.push({ role: 'user', content: isMultimodal(context.target) ? [{ text: fillPrompt(losses) }] : fillPrompt(losses) });
  const model = context.target.upstreamModelId;
  if (context.operation === 'count-tokens') return { body: { model, input: { messages }, parameters: {} } satisfies WireRequest, losses: losses.list };
  const thinking = writeThinking(conversation, context, losses);
  const thinks = thinking['enable_thinking'] === true || alwaysThinks(context.target);
  const parameters: JsonObject = {
    // Multimodal replies have one format only.
    ...(!isMultimodal(context.target) && { result_format: 'message' }),
    ...writeSampling(conversation, context, losses),
    ...thinking,
    ...writeTools(conversation, losses),
    ...(conversation.output && writeOutput(conversation.output, messages, thinks, context, losses)),
    ...(asksForStream(context.target, context.stream) && { incremental_output: true }),
  };
  noteCallerFields(conversation, losses);
  const emulation = emulationOf(conversation.output, thinks);
  return { body: { model, input: { messages }, parameters } satisfies WireRequest, losses: losses.list, ...(emulation && { emulation }) };
}

/** The choice and thinking that go together. Only one named function can be forced: where there are several, "some tool" becomes a wish anyway. */
function fitForcedChoice(conversation: Conversation, { target }: WriteRequestContext, losses: Losses): Conversation {
  const { reasoning, toolChoice, tools } = conversation;
  if (toolChoice?.type === 'any' && (toolChoice.allowed ?? tools).length !== 1) return conversation;
  const always = alwaysThinks(target);
  const asked = reasoning ? writeReasoning(reasoning, qwenFamily(target), new Losses())['enable_thinking'] === true : thinksUnasked(target);
  return settleForcedChoice(conversation, { thinks: always || asked, optional: !always }, losses);
}

/** This vendor's rules, with the model's own bounds where the model is known. */
function qwenFamily(target: WriteRequestContext['target']): ChatFamily {
  const family = chatFamily(target);
  return family.reasoning === 'enable-thinking' ? family : chatFamilyOfModel('qwen');
}

/** Asked for in the words that the vendor's compatible endpoint has too. */
function writeThinking({ reasoning }: Conversation, { target }: WriteRequestContext, losses: Losses): JsonObject {
  if (!reasoning) return {};
  const fields = writeReasoning(reasoning, qwenFamily(target), losses);
  if (!alwaysThinks(target) || fields['enable_thinking'] !== false) return fields;
  losses.add('reasoning.enabled', 'downgraded', 'This model always reasons.');
  return {};
}

/** Just below the bound that is refused. */
const maxTemperature = 1.99;

function writeSampling({ sampling }: Conversation, { target }: WriteRequestContext, losses: Losses): JsonObject {
  const { temperature, topP } = sampling;
  if (temperature !== undefined && temperature >= 2) losses.add('temperature', 'downgraded', 'This upstream takes less than 2 only.');
  if (topP !== undefined && topP <= 0) losses.add('top_p', 'downgraded', 'This upstream takes more than 0 only.');
  if (sampling.frequencyPenalty) losses.add('frequency_penalty', 'dropped', 'This upstream does not take it.');
  if (sampling.logitBias && Object.keys(sampling.logitBias).length > 0) losses.add('logit_bias', 'dropped', 'This upstream does not take it.');
  if ((sampling.choices ?? 1) > 1) losses.add('n', 'dropped', 'Several choices are only carried between equal protocols.');
  const fields: JsonObject = {
    max_tokens: fitTokens('max_tokens', sampling.maxTokens, target, losses),
    temperature: temperature === undefined ? undefined : Math.min(maxTemperature, temperature),
    top_p: topP === undefined ? undefined : Math.max(0.01, topP),
    top_k: sampling.topK,
    stop: sampling.stop && sampling.stop.length > 0 ? sampling.stop : undefined,
    seed: sampling.seed,
    presence_penalty: sampling.presencePenalty,
    logprobs: sampling.logprobs,
    top_logprobs: sampling.topLogprobs,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** JSON is asked for by a parameter where the model does not reason, a schema always in words: few models take one. */
function writeOutput(output: OutputFormat, messages: WireMessage[], thinks: boolean, { target }: WriteRequestContext, losses: Losses): JsonObject {
  if (output.type === 'text') return {};
  if (output.type === 'schema') {
    losses.add('response_format.json_schema', 'emulated', 'JSON was requested and the schema described in the prompt.');
    addSystemText(messages, `Answer with one JSON object that fits this JSON schema:\n${JSON.stringify(output.schema)}`, target);
  } else if (!saysJson(messages)) {
    // A request that never says the word is refused.
    losses.add('response_format.json_object', 'emulated', 'A sentence that asks for JSON was added, as this upstream demands.');
    addSystemText(messages, 'Answer with one JSON object.', target);
  }
  if (!thinks) return { response_format: { type: 'json_object' } };
  losses.add('response_format', 'downgraded', 'A model that reasons takes no output format: it was asked for in words.');
  return {};
}

/** What the reply must be judged by: words alone may be answered with a fence around the JSON, or beside the schema. */
function emulationOf(output: OutputFormat | undefined, thinks: boolean): ReplyEmulation | undefined {
  if (output?.type === 'schema') return { schema: output.schema };
  return output?.type === 'json' && thinks ? {} : undefined;
}

const saysJson = (messages: readonly WireMessage[]): boolean =>
  messages.some(({ content }) =>
    (typeof content === 'string' ? [content] : content.map((part) => ('text' in part ? part.text : ''))).some((text) => /json/i.test(text)),
  );

/** Added to the one system message, which has to come first. */
function addSystemText(messages: WireMessage[], words: string, target: WriteRequestContext['target']): void {
  const first = messages[0];
  if (first?.role !== 'system') messages.unshift({ role: 'system', content: isMultimodal(target) ? [{ text: words }] : words });
  else if (typeof first.content === 'string') first.content = `${first.content}\n\n${words}`;
  else first.content.push({ text: words });
}

/** Fields about the caller and its account that this wire has no place for. */
function noteCallerFields({ user, safetyIdentifier, metadata, verbosity, serviceTier, promptCacheKey }: Conversation, losses: Losses): void {
  const given: readonly (readonly [string, boolean])[] = [
    ['user', user !== undefined],
    ['safety_identifier', safetyIdentifier !== undefined],
    ['metadata', metadata !== undefined && Object.keys(metadata).length > 0],
    ['verbosity', verbosity !== undefined],
    ['service_tier', serviceTier !== undefined],
    ['prompt_cache_key', promptCacheKey !== undefined],
  ];
  for (const [field, present] of given) if (present) losses.add(field, 'dropped', 'This upstream does not take the field.');
}
