/** What only some models behind the one interface know: reasoning and `top_k` go into `additionalModelRequestFields`, each in its vendor's words. */
import { modelFamily, nearestEffort, planThinking, writeSampling } from '../../beta/index.ts';
import type { Conversation, Reasoning } from '../../chat/conversation.ts';
import type { Target } from '../../contract/index.ts';
import { fitTokens } from '../../kit/limit-tokens.ts';
import type { Losses } from '../../kit/losses.ts';
import { asNumber, asObject, type JsonObject, own } from '../../kit/read.ts';
import type { CloudFamily } from './model-family.ts';
import type { WireBlock, WireMessage } from './wire.ts';

/** `inferenceConfig` and `additionalModelRequestFields` of a request. */
export interface ModelFields {
  inference: { maxTokens?: number; temperature?: number; topP?: number; stopSequences?: string[] };
  /** The vendor's own fields. */
  additional: JsonObject;
}

export function writeModelFields(
  conversation: Conversation,
  target: Target,
  family: CloudFamily,
  messages: readonly WireMessage[],
  losses: Losses,
): ModelFields {
  const generation = modelFamily(target);
  const asked = fitTokens('max_tokens', conversation.sampling.maxTokens, target, losses) ?? asNumber(own(target.extraConfig, 'default_max_tokens'));
  const thinking =
    family.reasoning === 'messages'
      ? planThinking(conversation, generation, asked ?? generation.defaultMaxTokens, messages.map(asMessage), losses)
      : { active: false };
  const reasoning = family.reasoning === 'messages' ? {} : writeReasoning(conversation.reasoning, family, asked !== undefined, losses);
  const excludes = own(own(reasoning, 'reasoningConfig'), 'maxReasoningEffort') === highest ? 'thinking excludes it' : undefined;
  const sampling = writeSampling(conversation.sampling, generation, thinking.active, excludes, losses);
  // A thinking budget stands below the limit, which must then be named.
  const budget = thinking.active && own(thinking.thinking, 'budget_tokens') !== undefined ? generation.defaultMaxTokens : undefined;
  const maxTokens = asked ?? budget;
  const additional: JsonObject = {
    ...(thinking.thinking && { thinking: thinking.thinking }),
    ...(thinking.effort !== undefined && { output_config: { effort: thinking.effort } }),
    ...reasoning,
    ...writeTopK(sampling['top_k'], family, losses),
    ...asObject(own(target.extraConfig, 'additional_model_request_fields')),
  };
  return {
    inference: {
      ...(maxTokens !== undefined && { maxTokens }),
      ...(sampling['temperature'] !== undefined && { temperature: sampling['temperature'] as number }),
      ...(sampling['top_p'] !== undefined && { topP: sampling['top_p'] as number }),
      ...(sampling['stop_sequences'] !== undefined && { stopSequences: sampling['stop_sequences'] as string[] }),
    },
    additional,
  };
}

/** As far as the rules about thinking look into messages. */
const asMessage = ({ role, content }: WireMessage): { role: string; content: { type: string }[] } => ({
  role,
  content: content.map((block) => ({ type: kindOf(block) })),
});
const kindOf = (block: WireBlock): string =>
  'toolUse' in block ? 'tool_use' : 'toolResult' in block ? 'tool_result' : 'reasoningContent' in block ? 'thinking' : 'text';

const threeEfforts = ['low', 'medium', 'high'] as const;
/** Nova takes neither a limit of the reply nor sampling parameters beside it. A limit stays, since it bounds what the reply costs: the effort gives way. */
const highest = 'high';

function writeReasoning(reasoning: Reasoning | undefined, family: CloudFamily, limited: boolean, losses: Losses): JsonObject {
  if (!reasoning) return {};
  const off =
    reasoning.enabled === false || reasoning.effort === 'none' || (reasoning.enabled === undefined && reasoning.effort === undefined && !reasoning.budget);
  if (family.reasoning === 'none') {
    if (!off) losses.dropped('reasoning', 'this model has no setting for it');
    return {};
  }
  if (off) return family.reasoning === 'nova' ? { reasoningConfig: { type: 'disabled' } } : {};
  if (reasoning.effort === undefined || reasoning.budget !== undefined) losses.add('reasoning.budget', 'downgraded', 'this model takes an effort in words');
  const nearest = reasoning.effort === undefined ? effortOf(reasoning.budget) : nearestEffort(reasoning.effort, threeEfforts);
  const effort = family.reasoning === 'nova' && limited && nearest === highest ? 'medium' : nearest;
  if (reasoning.effort !== undefined && effort !== reasoning.effort) losses.add('reasoning.effort', 'downgraded', 'the nearest effort that this model takes');
  return family.reasoning === 'nova' ? { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } } : { reasoning_effort: effort };
}

/** Budgets in three words. */
const effortOf = (budget = 8192): string => (budget < 0 || (budget > 4096 && budget <= 12_288) ? 'medium' : budget <= 4096 ? 'low' : 'high');

function writeTopK(topK: unknown, family: CloudFamily, losses: Losses): JsonObject {
  if (topK === undefined) return {};
  if (family.topK === 'top_k') return { top_k: topK };
  if (family.topK === 'nova') return { inferenceConfig: { topK } };
  losses.dropped('top_k', 'this model takes none');
  return {};
}
