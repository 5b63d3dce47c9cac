/**
 * What the models behind the cloud's one interface accept: it refuses with a 400 what a model does not know. One table by model id, the first
 * pattern that fits; sources: the "supported models and model features" and "inference parameters" pages of the vendor's user guide (2025-11).
 */
import type { Target } from '../protocol.ts';

export interface CloudFamily {
  /** Ways of `toolChoice` the model takes. */
  toolChoices: readonly ('auto' | 'any' | 'tool')[];
  /** Where `cachePoint` may stand. */
  cachePoints: readonly ('system' | 'messages' | 'tools')[];
  /** Whether a cache point takes a lifetime. */
  cacheLifetimes: boolean;
  /** `status` of a tool result. */
  resultStatus: boolean;
  /** `system`; otherwise its text goes in front of the first user turn. */
  system: boolean;
  /** `outputConfig.textFormat`; otherwise the schema is asked for in words. */
  structuredOutput: boolean;
  /** How reasoning is asked for: in the messages vendor's fields, as Nova's configuration, as an effort in words, or not at all. */
  reasoning: 'messages' | 'nova' | 'effort' | 'none';
  /** Where `top_k` goes among the additional fields. */
  topK: 'top_k' | 'nova' | 'none';
}

const plain: CloudFamily = {
  toolChoices: ['auto', 'any', 'tool'],
  cachePoints: [],
  cacheLifetimes: false,
  resultStatus: false,
  system: true,
  structuredOutput: false,
  reasoning: 'none',
  topK: 'none',
};

const claude: CloudFamily = {
  ...plain,
  cachePoints: ['system', 'messages', 'tools'],
  resultStatus: true,
  reasoning: 'messages',
  topK: 'top_k',
};

const nova: CloudFamily = { ...plain, cachePoints: ['system', 'messages'], resultStatus: true, topK: 'nova' };

const families: readonly { pattern: RegExp; family: CloudFamily }[] = [
  // From 4.5 on: schemas, and lifetimes of cache points.
  { pattern: /claude-(?:[a-z]{1,20}-)?(?:4-[5-9]|[5-9])(?!\d)/i, family: { ...claude, cacheLifetimes: true, structuredOutput: true } },
  { pattern: /anthropic|claude/i, family: claude },
  { pattern: /nova-(?:[a-z]{1,20}-)?2|nova-2/i, family: { ...nova, reasoning: 'nova' } },
  { pattern: /amazon\.nova/i, family: nova },
  { pattern: /amazon\.titan/i, family: { ...plain, system: false, toolChoices: [] } },
  { pattern: /mistral-7b|mixtral-8x7b/i, family: { ...plain, system: false, toolChoices: [] } },
  { pattern: /mistral/i, family: { ...plain, toolChoices: ['auto', 'any'], topK: 'top_k' } },
  { pattern: /meta\.llama/i, family: { ...plain, toolChoices: ['auto'] } },
  { pattern: /gpt-oss/i, family: { ...plain, structuredOutput: true, reasoning: 'effort', toolChoices: ['auto'] } },
  { pattern: /qwen3/i, family: { ...plain, structuredOutput: true } },
  { pattern: /cohere/i, family: { ...plain, toolChoices: ['auto'] } },
];

/** A target that names no model (a profile known by its ARN alone) gets the forms that all models take. */
export function cloudFamily(target: Target): CloudFamily {
  const ids = `${target.modelId ?? ''} ${target.upstreamModelId}`;
  return families.find(({ pattern }) => pattern.test(ids))?.family ?? plain;
}
