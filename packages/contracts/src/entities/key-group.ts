import { z } from 'zod';
import { budgetSchema, inheritableKeyRateLimit } from './limits.ts';
import { type McpGroupField, mcpGroupFields } from './mcp-server.ts';
import { resourceName, type WithLater } from './name.ts';
import { onBreakSchema } from './on-break.ts';

/**
 * One rule on the caller's headers. Rules are evaluated in order and the first match decides; if any `allow` rule exists and none matches, the
 * request is refused.
 */
export const headerRuleSchema = z
  .strictObject({
    header: z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'not a header name'),
    match: z.enum(['exists', 'absent', 'equals', 'prefix', 'suffix', 'contains', 'regex']),
    value: z.string().max(1024).optional(),
    action: z.enum(['allow', 'deny']),
  })
  .refine((rule) => rule.match === 'exists' || rule.match === 'absent' || rule.value !== undefined, { message: 'this match needs a value', path: ['value'] });
export type HeaderRule = z.infer<typeof headerRuleSchema>;

/** Whether bodies of the group's requests are kept for admins to read. Off unless somebody wants it: they hold what callers wrote. */
export const storeBodiesSchema = z.strictObject({
  enabled: z.boolean().default(false),
  /** Maximum bytes kept of the request body, and of the response body; the rest is cut off. */
  max_bytes: z.int().min(1_024).max(1_048_576).default(65_536),
  /** Hours after which stored bodies are deleted. */
  ttl_hours: z.int().min(1).max(720).default(24),
});
export type StoreBodies = z.output<typeof storeBodiesSchema>;

/** Within what members of a group make keys. */
export const memberKeysSchema = z.strictObject({
  /** Keys of one member in this group. */
  max: z.int().min(0).max(1_000),
  /** The most that one of these keys may spend; a key without a budget of its own has this one. null: no bound. */
  max_budget: budgetSchema.nullable().default(null),
  /** Days that one of these keys lives at most. null: no bound. */
  max_days: z.int().min(1).max(3_650).nullable().default(null),
});
export type MemberKeys = z.output<typeof memberKeysSchema>;

export const keyGroupSchema = z.strictObject({
  name: resourceName,
  /** Canonical model names; `*` stands for any run of characters. */
  models: z.array(z.string().min(1).max(200)).max(10_000).default([]),
  header_acl: z.array(headerRuleSchema).max(100).default([]),
  /** The limit of each access key in the group that has none of its own. */
  rate_limit: inheritableKeyRateLimit,
  /** The limit of all access keys in the group together. */
  budget: budgetSchema.nullable().default(null),
  /** Refuse a request (400 naming the losses) when its translation would lose something. */
  strict_translation: z.boolean().default(false),
  /** `refuse`: what may come to a model without a price is answered 402, since no budget counts it. */
  unpriced: z.enum(['allow', 'refuse']).default('allow'),
  /** Whether its keys may call upstreams in their own terms, below `/v3`. */
  passthrough: z.enum(['on', 'off']).default('on'),
  ...mcpGroupFields,
  /** Whether the gateway searches and fetches itself where a caller offers its vendor's hosted web search and the upstream has none. */
  server_tools: z.enum(['on', 'off']).default('off'),
  /** null: no bodies are kept. */
  store_bodies: storeBodiesSchema.nullable().default(null),
  /** How broken streams end; takes precedence over the upstream's setting. null: the upstream's. */
  on_break: onBreakSchema.nullable().default(null),
  /** Who sees this group: names and e-mail addresses of console users, and values of the OpenID provider's role claim. Empty: nobody. */
  members: z
    .array(
      z
        .string()
        .min(1)
        .max(254)
        .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'control characters are not allowed'),
    )
    .max(10_000)
    .default([]),
  /** null: members make no keys. */
  member_keys: memberKeysSchema.nullable().default(null),
  enabled: z.boolean().default(true),
  description: z.string().max(2000).default(''),
});
export type KeyGroupInput = z.input<typeof keyGroupSchema>;
export type KeyGroup = WithLater<
  z.output<typeof keyGroupSchema>,
  'rate_limit' | 'budget' | 'unpriced' | 'passthrough' | 'server_tools' | 'store_bodies' | 'on_break' | 'members' | 'member_keys' | McpGroupField
>;
