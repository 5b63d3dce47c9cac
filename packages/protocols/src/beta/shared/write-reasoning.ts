/** Reasoning, sampling and tool choice together: on this wire they exclude one another, and each conflict is settled here and declared. */
import type { Conversation, Reasoning, Sampling } from '../../chat/conversation.ts';
import type { WriteRequestContext } from '../../contract/index.ts';
import { settingNames } from '../../kit/caller-fields.ts';
import { forcesCall } from '../../kit/forced-choice.ts';
import type { Losses } from '../../kit/losses.ts';
import type { JsonObject } from '../../kit/read.ts';
import { budgetOfEffort, effortOfBudget, minBudget, nearestEffort } from './effort.ts';
import type { ModelFamily } from './model-family.ts';

/** A message, as far as the rules about thinking look into it. */
interface Said {
  role?: unknown;
  content?: unknown;
}

/** The `thinking` and `effort` fields of a request, and whether the model will think. */
export interface ThinkingPlan {
  /** The request's `thinking`. */
  thinking?: JsonObject;
  /** `output_config.effort`. */
  effort?: string;
  /** Whether the reply will be thought out: sampling is then limited. */
  active: boolean;
}

export const asksForThinking = (reasoning: Reasoning): boolean =>
  reasoning.enabled !== false && reasoning.effort !== 'none' && (reasoning.enabled === true || (reasoning.effort ?? reasoning.budget ?? 0) !== 0);

export function planThinking(conversation: Conversation, family: ModelFamily, maxTokens: number, messages: readonly Said[], losses: Losses): ThinkingPlan {
  const { reasoning } = conversation;
  if (!reasoning) return { active: false };
  const off: ThinkingPlan = { active: false };
  if (!asksForThinking(reasoning)) return family.thinking === 'none' ? off : { active: false, thinking: { type: 'disabled' } };
  if (family.thinking === 'none') return leaveOut('this model does not think', losses);
  if (forcesCall(conversation.toolChoice)) return leaveOut('excludes a forced tool choice, which was kept', losses);
  return family.thinking === 'adaptive' ? planAdaptive(reasoning, family, losses) : planBudget(reasoning, family, maxTokens, messages, losses);
}

function leaveOut(why: string, losses: Losses): ThinkingPlan {
  losses.dropped('reasoning', why);
  return { active: false };
}

function planAdaptive(reasoning: Reasoning, family: ModelFamily, losses: Losses): ThinkingPlan {
  const wanted = reasoning.effort ?? (reasoning.budget === undefined ? undefined : effortOfBudget(reasoning.budget));
  const effort = wanted === undefined ? undefined : nearestEffort(wanted, family.efforts);
  if (reasoning.budget !== undefined) losses.add('reasoning.budget', 'downgraded', 'this model takes an effort in words');
  if (reasoning.effort !== undefined && effort !== reasoning.effort) losses.add('reasoning.effort', 'downgraded', 'the nearest effort that this model takes');
  const display = reasoning.summary === undefined ? {} : { display: reasoning.summary === 'none' ? 'omitted' : 'summarized' };
  return { active: true, thinking: { type: 'adaptive', ...display }, ...(effort !== undefined && { effort }) };
}

/** A budget is at least 1024 tokens and leaves part of `max_tokens` for the answer. */
function planBudget(reasoning: Reasoning, family: ModelFamily, maxTokens: number, messages: readonly Said[], losses: Losses): ThinkingPlan {
  if (maxTokens <= minBudget) return leaveOut('max_tokens leaves no room for a thinking budget', losses);
  if (!mayThinkOn(messages)) return leaveOut('the calls being answered came without thinking that can be replayed', losses);
  const named = reasoning.budget !== undefined && reasoning.budget > 0 ? reasoning.budget : undefined;
  if (named === undefined || reasoning.effort !== undefined) losses.add('reasoning.effort', 'downgraded', 'this model takes a budget in tokens');
  if (reasoning.adaptive) losses.add('reasoning.adaptive', 'downgraded', 'this model takes a budget in tokens');
  if (reasoning.summary !== undefined) losses.dropped('reasoning.summary', 'this model always shows its thinking');
  const wanted = Math.min(named ?? budgetOfEffort(reasoning.effort ?? 'medium'), family.maxThinking);
  const budget = Math.max(minBudget, wanted < maxTokens ? wanted : Math.floor(maxTokens * 0.8));
  if (named !== undefined && budget !== named) losses.add('reasoning.budget', 'downgraded', 'limited to what max_tokens leaves');
  return { active: true, thinking: { type: 'enabled', budget_tokens: Math.trunc(budget) } };
}

/**
 * Whether a thinking budget is taken: a tool loop counts as one turn of the assistant, which must begin with its thinking, or the call is a 400. What
 * the model said later in the loop may be without: it need not have thought again.
 */
export function mayThinkOn(messages: readonly Said[]): boolean {
  const asked = messages.findLastIndex((message) => message.role === 'user' && !kindsIn(message).includes('tool_result'));
  const loop = messages.slice(asked + 1).flatMap((message) => (message.role === 'assistant' ? [kindsIn(message)] : []));
  if (!loop.some((kinds) => kinds.includes('tool_use'))) return true;
  const first = loop.find((kinds) => kinds.length > 0)?.[0];
  return first === 'thinking' || first === 'redacted_thinking';
}

const kindsIn = ({ content }: Said): unknown[] => (Array.isArray(content) ? content.map((block: { type?: unknown } | null) => block?.type) : []);

/** The conversation as it is asked for again after the upstream missed the thinking of its tool loop: without thinking. */
export function withoutDemandedThinking(
  conversation: Conversation,
  { signaturesRefused }: Pick<WriteRequestContext, 'signaturesRefused'>,
  losses: Losses,
): Conversation {
  if (signaturesRefused?.about !== 'thinking' || !conversation.reasoning) return conversation;
  losses.dropped('reasoning', 'the calls being answered came without thinking that can be replayed');
  const { reasoning: _reasoning, ...rest } = conversation;
  return rest;
}

/** `temperature`, `top_p`, `top_k` and `stop_sequences`, as far as the API version, the model and its thinking allow. `refusal`: why the version takes none of the first three. */
export function writeSampling(sampling: Sampling, family: ModelFamily, thinks: boolean, refusal: string | undefined, losses: Losses): JsonObject {
  const written = refusal === undefined ? writeParameters(sampling, family, thinks, losses) : {};
  if (refusal !== undefined) {
    if (sampling.temperature !== undefined) losses.dropped('temperature', refusal);
    if (sampling.topP !== undefined) losses.dropped('top_p', refusal);
    if (sampling.topK !== undefined) losses.dropped('top_k', refusal);
  }
  const { stop } = sampling;
  const visible = stop?.filter((sequence) => sequence.trim() !== '') ?? [];
  if (stop !== undefined && visible.length < stop.length) losses.dropped('stop', 'stop sequences of nothing but blanks');
  if (visible.length > 0) written['stop_sequences'] = visible;
  dropUnknownSampling(sampling, losses);
  return written;
}

function writeParameters({ temperature, topP, topK }: Sampling, family: ModelFamily, thinks: boolean, losses: Losses): JsonObject {
  const written: JsonObject = {};
  const limited = family.fixedSampling ? 'this model takes no sampling parameters' : 'thinking excludes it';
  const free = !thinks && !family.fixedSampling;
  // A default says nothing, and is refused as well by some models that take no sampling parameters: it goes, and nothing is lost.
  if (temperature !== undefined && !(family.fixedSampling && temperature === 1)) {
    if (!free && temperature !== 1) losses.dropped('temperature', limited);
    else written['temperature'] = Math.min(temperature, 1);
    if (free && temperature > 1) losses.add('temperature', 'downgraded', 'limited to 1');
  }
  const single = family.fixedSampling || (temperature !== undefined && !family.bothSamplings);
  if (topP !== undefined && !(single && topP === 1)) {
    if (family.fixedSampling || (thinks && topP < 0.95)) losses.dropped('top_p', limited);
    else if (single) losses.dropped('top_p', 'this model takes temperature or top_p, not both');
    else written['top_p'] = topP;
  }
  if (topK !== undefined) {
    if (free) written['top_k'] = topK;
    else losses.dropped('top_k', limited);
  }
  return written;
}

const withoutCounterpart = ['seed', 'presencePenalty', 'frequencyPenalty', 'choices', 'logprobs', 'topLogprobs', 'logitBias'] as const;

/** Values that ask for what this wire does anyway: clients say them in every request. */
const asWithout: Partial<Sampling> = { presencePenalty: 0, frequencyPenalty: 0, choices: 1, logprobs: false };

function dropUnknownSampling(sampling: Sampling, losses: Losses): void {
  for (const name of withoutCounterpart) {
    const value = sampling[name];
    if (value === undefined || value === asWithout[name]) continue;
    losses.dropped(settingNames[name], 'has no counterpart');
  }
}
