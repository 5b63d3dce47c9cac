import { z } from 'zod';

/** A stored resource whose row may be older than these fields: absent, they have their default. */
export type WithLater<T, K extends keyof T> = Omit<T, K> & Partial<Pick<T, K>>;

/** Names of upstreams, groups and keys: 1 to 200 characters, no control characters, no space at either end. */
export const resourceName = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'control characters are not allowed')
  .refine((name) => name.trim() === name, 'must not begin or end with a space');

/** Names that callers put in `model`: as `resourceName`, but without `*`, which lists of allowed models use as a wildcard. */
export const modelName = resourceName.refine((name) => !name.includes('*'), 'must not contain *');
