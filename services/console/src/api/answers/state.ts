/** How a resource stands. */
import { z } from 'zod';
import { stateNames } from '../../health/state-of-attempts.ts';
import { count, instant, maybeText } from './common.ts';

export const resourceState = z.strictObject({
  status: z
    .enum(stateNames)
    .describe('What the latest attempts say; of access keys and groups, what their requests say, and whether they are expired or their budget is spent'),
  since: instant.nullable().describe('Since when it fails, is limited or refused, to the minute'),
  attempts: count.describe('Of the last 15 minutes; of keys and groups: requests of this hour and the one before'),
  failed: count,
  p50_ms: z.number().nullable(),
  last_error: maybeText.describe('`http_` and the status, or a word'),
});

/** Read only: absent right after a change, and ignored where it is sent. */
export const withState = { state: resourceState.optional() };
