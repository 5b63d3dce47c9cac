/** What is accepted of users and passwords. */
import { personSchema } from '@model-gateway/contracts';
import { consoleRoles } from '@model-gateway/storage';
import { z } from 'zod';
import { faultOfHash } from './passwords.ts';

/** Counted in characters, as people do; the upper end bounds the work. */
export const newPassword = z
  .string()
  .max(1024)
  .refine((text) => [...text].length >= 8, 'must have at least 8 characters')
  .describe('At least 8 characters; write only');

/** Names appear in the audit log beside `secret_key` and `api_key:…`: neither can be taken. */
export const username = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[\p{L}\p{N}][\p{L}\p{N}._@+-]*$/u, 'may hold letters, digits and . _ @ + -, and begins with a letter or digit')
  .refine((name) => name === name.normalize('NFKC'), 'holds characters that look like others')
  .refine((name) => name !== 'secret_key', 'is reserved');

const passwordHash = z.string().superRefine((hash, context) => {
  const fault = faultOfHash(hash);
  if (fault !== null) context.addIssue({ code: 'custom', message: fault });
});

/** null: none. */
const emailField = personSchema.refine((text) => text.includes('@'), 'must be an e-mail address').nullable();

export const userSchema = z
  .strictObject({
    username,
    role: z.enum(consoleRoles),
    /** For members: keys with this owner are theirs. */
    email: emailField.optional(),
    enabled: z.boolean().default(true),
    password: newPassword.optional(),
    /** Of an account that moves here: bcrypt or argon2id. */
    password_hash: passwordHash.optional(),
  })
  .refine(({ password, password_hash }) => password === undefined || password_hash === undefined, {
    message: 'cannot be given together with password',
    path: ['password_hash'],
  });

export const userChange = z.strictObject({
  role: z.enum(consoleRoles).optional(),
  email: emailField.optional(),
  enabled: z.boolean().optional(),
  password: newPassword.optional(),
});

export const loginBody = z.strictObject({ username: z.string().max(1024), password: z.string().max(1024) });
export const ownPasswordBody = z.strictObject({ current_password: z.string().max(1024), new_password: newPassword });
export const resetBody = z.strictObject({ password: newPassword });
