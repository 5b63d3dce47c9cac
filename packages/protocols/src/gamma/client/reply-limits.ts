/** How long the replies to a generate-content request may become. */

import type { ReplyLimits } from '../../contract/index.ts';
import { asReplies, largestLimit } from '../../kit/reply-limits.ts';
import { field } from '../shared/fields.ts';

export const limitKeys = ['generationConfig', 'generation_config'] as const;

/** Protobuf's JSON allows digits in a string. */
const figure = (found: unknown): unknown => (typeof found === 'string' && found.trim() !== '' ? Number(found) : found);

export function readReplyLimits(value: (key: string) => unknown): ReplyLimits {
  const configs = limitKeys.map((key) => value(key));
  return {
    output: largestLimit(...configs.map((config) => figure(field(config, 'maxOutputTokens')))),
    // A budget of -1 leaves it to the model.
    thinking: largestLimit(...configs.map((config) => figure(field(field(config, 'thinkingConfig'), 'thinkingBudget')))),
    replies: Math.max(...configs.map((config) => asReplies(figure(field(config, 'candidateCount'))))),
  };
}
