/** Validation of an audit record that arrives over the bus, as `request-log-message.ts` does for request log rows. */
import { z } from 'zod';
import type { AuditRow } from './audit.ts';
import { boundedId, boundedInstant } from './request-log-message.ts';

/** Actions and entities of a later version are stored too: a record that is refused would be missing from the log. */
const word = z.string().regex(/^[a-z][a-z_.]{0,63}$/);

const columns = {
  id: boundedId,
  occurred_at: boundedInstant,
  actor: z.string(),
  action: word,
  entity_type: word,
  entity_id: z.string(),
  diff: z.record(z.string(), z.unknown()).nullable().default(null),
  ip_address: z.string().nullable().default(null),
  request_id: z.string().nullable().default(null),
} satisfies Record<keyof AuditRow, z.ZodType>;

export const auditLogMessage = z.object(columns) as unknown as z.ZodType<AuditRow>;
