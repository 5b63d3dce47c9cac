import { z } from 'zod';
import { protocolIds } from '../protocol-id.ts';
import { bodyRulesSchema } from './body-rule.ts';
import { inheritableRateLimit } from './limits.ts';
import { modelName, resourceName, type WithLater } from './name.ts';
import { type ScriptField, scriptFields } from './scripts.ts';
import { endpointUrl } from './upstream.ts';

/** Objects of `extra_config` that hold one vendor's settings: by the specification's name, and by the vendor's own. */
export const vendorConfigs = ['delta', 'dashscope'] as const;

/** Bodies that `extra_config.body_shape` may name. */
export const bodyShapeNames = ['messages', 'nova', 'llama', 'mistral', 'titan', 'chat'] as const;
export type BodyShapeName = (typeof bodyShapeNames)[number];

/** The body an admin sends to create or replace a model. */
export const modelSchema = z.strictObject({
  name: modelName,
  upstream: resourceName,
  upstream_model_id: z.string().min(1).max(2048),
  aliases: z.array(modelName).max(100).default([]),
  hide_name: z.boolean().default(false),
  signature_passthrough: z.boolean().default(false),
  protocol: z.enum(protocolIds).nullable().default(null),
  /** With `direct_path` the whole endpoint, which may have a query. */
  base_url: endpointUrl.nullable().default(null),
  direct_path: z.boolean().default(false),
  kind: z.string().max(64).nullable().default(null),
  inference_profile: z.string().min(1).max(2048).nullable().default(null),
  /** A limit set here replaces the upstream's: calls of such a model no longer count towards the upstream's limit. */
  rate_limit: inheritableRateLimit,
  token_counting: z.enum(['inherit', 'upstreamApi', 'tiktoken']).default('inherit'),
  extra_config: z.record(z.string(), z.json()).nullable().default(null),
  /** Applied after the upstream's body rules. */
  request_body_rules: bodyRulesSchema.default([]),
  ...scriptFields,
  enabled: z.boolean().default(true),
});
export type ModelInput = z.input<typeof modelSchema>;
export type Model = WithLater<z.output<typeof modelSchema>, 'rate_limit' | 'request_body_rules' | ScriptField> & { created_at?: number };
