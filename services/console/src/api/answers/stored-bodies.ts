/** Bodies of a request, as the console shows them. */
import type { BodyEntry, RequestBodies } from '@model-gateway/contracts';
import { z } from 'zod';
import { count, epochMs, maybeText, text } from './common.ts';

const entry = {
  id: text,
  started_at: epochMs,
  expires_at: epochMs,
  access_key: text,
  key_group: text,
  model: maybeText,
  client_protocol: text,
  path: text,
  stream: z.boolean(),
  status: z.int(),
};
/** `bytes`: of the whole body as it was. */
const body = z.strictObject({ text, bytes: count, truncated: z.boolean() });

export const bodyEntry: z.ZodType<BodyEntry> = z.strictObject(entry);
export const requestBodies: z.ZodType<RequestBodies> = z.strictObject({ ...entry, request: body, response: body });
