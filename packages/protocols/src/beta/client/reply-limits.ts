/** How long the reply to a messages request may become. */

import type { ReplyLimits } from '../../contract/index.ts';
import { own } from '../../kit/read.ts';
import { asLimit, tiersAsked } from '../../kit/reply-limits.ts';

export const limitKeys = ['max_tokens', 'thinking', 'service_tier', 'speed'] as const;

export function readReplyLimits(value: (key: string) => unknown): ReplyLimits {
  const thinking = value('thinking');
  return {
    output: asLimit(value('max_tokens')),
    thinking: own(thinking, 'type') === 'disabled' ? 0 : asLimit(own(thinking, 'budget_tokens')),
    replies: 1,
    ...tiersAsked(value('service_tier'), value('speed')),
  };
}
