import { z } from 'zod';
import { modelName } from './name.ts';

export const balancerStrategies = ['weighted', 'priority', 'least_latency'] as const;
export type BalancerStrategy = (typeof balancerStrategies)[number];

export const balancerEntrySchema = z.strictObject({
  /** Canonical name of a model; hidden ones may serve here. */
  model: modelName,
  /** Share of the requests; 0 is asked only when all others failed. `priority` goes by the order alone. */
  weight: z.int().min(0).max(1_000_000).default(1),
  enabled: z.boolean().default(true),
});

/** The body an admin sends to create or replace a load balancer. */
export const loadBalancerSchema = z.strictObject({
  name: modelName,
  aliases: z.array(modelName).max(100).default([]),
  enabled: z.boolean().default(true),
  strategy: z.enum(balancerStrategies).default('weighted'),
  /** `priority` goes by their order. */
  entries: z.array(balancerEntrySchema).max(100).default([]),
  /** Each access key keeps one entry while that entry is healthy. */
  static_binding: z.boolean().default(false),
});
export type LoadBalancerInput = z.input<typeof loadBalancerSchema>;
export type LoadBalancer = z.output<typeof loadBalancerSchema> & { created_at?: number };

/** An access key that is sent to one entry while that entry is healthy. */
export interface BalancerPin {
  load_balancer: string;
  access_key: string;
  /** Canonical name of the entry's model. */
  entry: string;
}
