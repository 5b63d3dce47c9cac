/** How long the reply of a Responses turn may become. */

import type { ReplyLimits } from '../../contract/index.ts';
import { asLimit, tiersAsked } from '../../kit/reply-limits.ts';

export const limitKeys = ['max_output_tokens', 'service_tier'] as const;

export const readReplyLimits = (value: (key: string) => unknown): ReplyLimits => ({
  output: asLimit(value('max_output_tokens')),
  replies: 1,
  ...tiersAsked(value('service_tier')),
});
