/** How long the reply of a Responses turn may become. */

import type { ReplyLimits } from '../../contract/index.ts';
import { asLimit } from '../../kit/reply-limits.ts';

export const limitKeys = ['max_output_tokens'] as const;

export const readReplyLimits = (value: (key: string) => unknown): ReplyLimits => ({ output: asLimit(value('max_output_tokens')), replies: 1 });
