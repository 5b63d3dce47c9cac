/** How long the replies to a chat completion, or a legacy completion, may become. */

import type { ReplyLimits } from '../../contract/index.ts';
import { asArray } from '../../kit/read.ts';
import { asLimit, asReplies, largestLimit, tiersAsked } from '../../kit/reply-limits.ts';

export const limitKeys = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'n',
  'best_of',
  'prompt',
  'enable_thinking',
  'thinking_budget',
  'service_tier',
] as const;

export const readReplyLimits = (value: (key: string) => unknown): ReplyLimits => ({
  output: largestLimit(value('max_completion_tokens'), value('max_tokens'), value('max_output_tokens')),
  thinking: value('enable_thinking') === false ? 0 : asLimit(value('thinking_budget')),
  replies: Math.max(asReplies(value('n')), asReplies(value('best_of'))) * countPrompts(value('prompt')),
  ...tiersAsked(value('service_tier')),
});

/** Legacy completions answer each prompt of a list; a list of numbers is one prompt, in tokens. */
function countPrompts(prompt: unknown): number {
  const list = asArray(prompt);
  return list === undefined || list.length === 0 || typeof list[0] === 'number' ? 1 : list.length;
}
