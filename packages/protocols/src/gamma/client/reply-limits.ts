/** How long the replies to a generate-content request may become. */

import type { ReplyLimits } from '../../contract/index.ts';
import { asReplies, figure, largestLimit, tiersAsked } from '../../kit/reply-limits.ts';
import { field } from '../shared/fields.ts';

const configKeys = ['generationConfig', 'generation_config'] as const;
/** `parameters` and `instances` are of `:predict`. */
export const limitKeys = [...configKeys, 'parameters', 'instances', 'serviceTier', 'service_tier'] as const;
/** Of `:predict`, where its caller does not say. */
const usualSamples = 4;

export function readReplyLimits(value: (key: string) => unknown): ReplyLimits {
  const configs = configKeys.map((key) => value(key));
  const samples = figure(field(value('parameters'), 'sampleCount'));
  const isPredicted = samples !== undefined || value('instances') !== undefined;
  return {
    output: largestLimit(...configs.map((config) => figure(field(config, 'maxOutputTokens')))),
    // A budget of -1 leaves it to the model.
    thinking: largestLimit(...configs.map((config) => figure(field(field(config, 'thinkingConfig'), 'thinkingBudget')))),
    replies: Math.max(...configs.map((config) => asReplies(figure(field(config, 'candidateCount'))))),
    ...tiersAsked(value('serviceTier'), value('service_tier')),
    ...(isPredicted && { images: asReplies(samples ?? usualSamples) }),
  };
}
