/** The shapes that a configuration file is made of, by the names under which `data/field-texts` describes their fields. */
import type { z } from 'zod';
import { accessKeySchema } from '../entities/access-key.ts';
import { alertChannelSchema } from '../entities/alert-channel.ts';
import { bodyRuleSchema } from '../entities/body-rule.ts';
import { headerRuleSchema, keyGroupSchema, memberKeysSchema, storeBodiesSchema } from '../entities/key-group.ts';
import { budgetSchema, keyRateLimitSchema, rateLimitSchema } from '../entities/limits.ts';
import { balancerEntrySchema, loadBalancerSchema } from '../entities/load-balancer.ts';
import { mcpHealthCheckSchema, mcpRateLimitSchema, mcpServerSchema, mcpToolAclSchema } from '../entities/mcp-server.ts';
import { modelSchema } from '../entities/model.ts';
import { pricingRequestFields } from '../entities/pricing.ts';
import { searchConfigSchema, searchProviderSchema } from '../entities/search.ts';
import { dnsSchema, timeoutsSchema, tlsSchema, upstreamKeySchema, upstreamSchema } from '../entities/upstream.ts';
import type { FieldShape } from './facts.ts';

/** Those with a schema of their own; the others are described here alone. */
export const shapeSchemas: Partial<Record<FieldShape, z.ZodType>> = {
  upstream: upstreamSchema,
  upstream_key: upstreamKeySchema,
  timeouts: timeoutsSchema,
  dns: dnsSchema,
  tls: tlsSchema,
  rate_limit: rateLimitSchema,
  key_rate_limit: keyRateLimitSchema,
  budget: budgetSchema,
  model: modelSchema,
  price: pricingRequestFields,
  price_tier: pricingRequestFields.shape.tiers.unwrap().element,
  price_service_tier: pricingRequestFields.shape.service_tiers.unwrap().element,
  load_balancer: loadBalancerSchema,
  balancer_entry: balancerEntrySchema,
  mcp_server: mcpServerSchema,
  mcp_health_check: mcpHealthCheckSchema,
  mcp_rate_limit: mcpRateLimitSchema,
  mcp_tool_acl: mcpToolAclSchema,
  search_provider: searchProviderSchema,
  search_config: searchConfigSchema,
  key_group: keyGroupSchema,
  header_rule: headerRuleSchema,
  store_bodies: storeBodiesSchema,
  member_keys: memberKeysSchema,
  alert_channel: alertChannelSchema,
  smtp: alertChannelSchema.shape.smtp.unwrap().unwrap(),
  access_key: accessKeySchema,
  body_rule: bodyRuleSchema,
};
