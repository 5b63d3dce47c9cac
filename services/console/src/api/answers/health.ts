/** Answers about the health of upstreams. */
import { z } from 'zod';
import { count, epochMs, maybeText, text } from './common.ts';
import { resourceState } from './state.ts';

export const lastFailure = z.strictObject({ request_id: text, at: epochMs, message: maybeText.describe('What the upstream said') }).nullable();

export const healthAnswer = z.strictObject({
  items: z.array(
    z.strictObject({
      name: text,
      protocol: text,
      state: resourceState,
      keys: z.array(z.strictObject({ id: text, label: maybeText, fingerprint: maybeText, state: resourceState })),
      models: count,
      failing_models: z.array(text),
      last_failure: lastFailure,
    }),
  ),
});

export const upstreamTest = z.strictObject({
  upstream: text,
  model: maybeText.describe('The model that was called; null: it has none that can be tested without a file or a session'),
  ok: z.boolean(),
  status: z.int().nullable(),
  latency_ms: count.nullable(),
  request_id: maybeText,
  message: maybeText.describe('What was answered, where it went wrong'),
});
