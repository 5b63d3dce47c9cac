import { z } from 'zod';
import { type Budget, budgetSchema, inheritableKeyRateLimit, type KeyRateLimit } from './limits.ts';
import { resourceName } from './name.ts';
import { ownerSchema } from './owner.ts';

/** What an admin may send for an access key. `key` imports a value of the caller's own at creation. */
export const accessKeySchema = z.strictObject({
  name: resourceName,
  key: z
    .string()
    .min(16)
    .max(512)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .optional(),
  group: resourceName,
  enabled: z.boolean().default(true),
  /** ISO 8601 instant, or null for never. */
  expires_at: z.iso.datetime({ offset: true }).nullable().default(null),
  /** Whose key it is: an e-mail address or the name of a console user; empty for nobody's. */
  owner: ownerSchema.default(''),
  description: z.string().max(2000).default(''),
  tags: z.array(z.string().min(1).max(100)).max(50).default([]),
  rate_limit: inheritableKeyRateLimit,
  budget: budgetSchema.nullable().default(null),
  /** Stored as a hash only: no full-value retrieval. */
  anonymous: z.boolean().default(false),
});
export type AccessKeyInput = z.input<typeof accessKeySchema>;

/** An access key as snapshots carry it: found by hash, never the value. */
export interface AccessKeyRecord {
  name: string;
  group: string;
  enabled: boolean;
  /** Milliseconds since the epoch, or null. */
  expires_at: number | null;
  /** Lower-case hex SHA-256 of the key. */
  hash: string;
  /** The same through every rotation of the key; absent in snapshots of earlier versions. */
  id?: string;
  /** Absent: `inherit`. */
  rate_limit?: KeyRateLimit | 'inherit';
  budget?: Budget | null;
  /** The value before the last rotation, let in until `until` (ms since the epoch); absent: none. */
  previous?: PreviousKeyValue;
}

/** A value that a rotation replaced and that goes on working for a while. */
export interface PreviousKeyValue {
  /** Lower-case hex SHA-256. */
  hash: string;
  /** Milliseconds since the epoch. */
  until: number;
}
