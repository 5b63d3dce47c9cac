/** Answers about where requests go, what a try at them gave, and what is left of limits. */
import { type Explanation, operations, protocolIds, rateLimitSchema } from '@model-gateway/contracts';
import { z } from 'zod';
import { anything, count, loss, maybeText, micros, money, processes, text } from './common.ts';

const protocol = z.enum(protocolIds);
const number = z.number();
const maybeNumber = number.nullable();

export const keyMonitor = z.strictObject({
  items: z.array(
    z.strictObject({
      access_key: text,
      key_group: text,
      enabled: z.boolean(),
      keys: z.array(
        z.strictObject({
          upstream: text,
          /** -1: no key has a weight. */
          key_index: z.int(),
          key_id: maybeText,
          key: text,
          weight: z.int().nullable(),
          source: z.enum(['binding', 'prediction']),
          stale: z.boolean(),
          idle_seconds: maybeNumber,
          process: maybeText,
        }),
      ),
    }),
  ),
  total: count,
  processes,
  page: z.int(),
  page_size: z.int(),
});

const node: z.ZodType<Explanation['nodes'][number]> = z.strictObject({
  model: text,
  upstream: maybeText,
  upstream_model_id: maybeText,
  upstream_protocol: protocol.nullable(),
  weight: number,
  state: z.enum(['healthy', 'probing', 'ejected', 'waiting', 'disabled']),
  reason: maybeText,
  position: z.int().nullable(),
  score: maybeNumber,
  score_kind: z.enum(['turn_credit', 'fading_cost_ms', 'binding_hash']).nullable().optional(),
  latency_ms: maybeNumber,
  retry_after_ms: maybeNumber,
  keys: z.array(
    z.strictObject({
      index: z.int(),
      id: text,
      weight: number,
      position: z.int(),
      why: z.enum(['binding', 'prediction', 'only_key', 'rotation', 'standby']),
      obstacle: maybeText,
    }),
  ),
});
/** Turns, bindings and breakers are each router's own; `nodes` beside it are those of the first. */
export const balancerNodes = z.strictObject({ nodes: z.array(node), routers: z.array(z.strictObject({ process: text, nodes: z.array(node) })), processes });

const refusal = z.strictObject({ code: text, status: z.int(), message: text }).nullable();
const explained = {
  requested_model: text,
  resolved: z.strictObject({ name: text, kind: z.enum(['model', 'load_balancer']), via: z.enum(['canonical', 'alias']) }).nullable(),
  granted: z.boolean(),
  strategy: maybeText,
  static_binding: z.boolean(),
  pinned_to: maybeText,
  switches: z.array(z.strictObject({ owner: text, index: z.int(), use_model: text })),
  nodes: z.array(node),
  limits: z.array(
    z.strictObject({
      layer: text,
      name: text,
      limit: number.describe('Of a budget: in micro-units, as `money` has it in whole currency'),
      left: number,
      money: z.strictObject({ limit: money, left: money, currency: text }).optional(),
    }),
  ),
  refusal,
} satisfies Record<keyof Explanation, z.ZodType>;
export const explanation = z.strictObject({
  access_key: text,
  key_group: text,
  client_protocol: text,
  ...explained,
  routers: z.array(z.strictObject({ process: text, nodes: z.array(node), refusal })),
  processes,
});

/** `takes_file`: the call is about a file of the tester. */
export const modelOperations = z.strictObject({
  model: text,
  items: z.array(z.strictObject({ operation: z.enum(operations), client_protocol: protocol, takes_file: z.boolean() })),
});

export const modelTest = z.strictObject({
  request_id: text,
  status: z.int(),
  latency_ms: count,
  /** Of a whole reply, and of a refusal. */
  response: anything.optional(),
  /** Of a reply that is not text, such as sound; `data` is base64. */
  file: z.strictObject({ content_type: text, data: text }).optional(),
  /** Of a stream. */
  events: z.array(z.strictObject({ event: text.optional(), data: anything })).optional(),
  translation: z.strictObject({
    client_protocol: text,
    upstream_protocol: maybeText,
    upstream_body: anything,
    losses: z.array(loss),
  }),
});

export const fetchedModels = z.strictObject({ models: z.array(text), parsed_count: count, raw_count: count, source: text });

export const scriptTest = z.strictObject({ result_body: anything, execution_time_ms: number, operations: count, use_model: text.optional() });
export const scriptTypes = z.strictObject({ types: text });
export const ruleTest = z.strictObject({
  body: anything,
  /** `changes`: how many values the rule changed. */
  applied: z.array(z.strictObject({ index: z.int(), mode: text, changes: count })),
  switch: z.strictObject({ index: z.int(), use_model: text }).nullable(),
});

export const pin = z.strictObject({ access_key: text, entry: text });

const usage = { used: number, waiting: number, degraded: z.boolean() };
const cap = z.strictObject({ ...usage, limit: maybeNumber });
const counter = z.strictObject({ ...usage, name: text, limit: number, window_secs: number });
const gate = z.strictObject({ ...usage, name: text, limit: rateLimitSchema, rpm_left: maybeNumber, tpm_left: maybeNumber });
export const limitStatus = z.strictObject({
  /** `redis`: counted together; `memory`: limits hold for each process. null: none answered. */
  backend: z.enum(['memory', 'redis', 'process']).nullable(),
  degraded: z.boolean(),
  global: cap,
  streams: cap,
  keys: z.array(counter),
  ips: z.array(counter),
  upstreams: z.array(gate),
  models: z.array(gate),
  budgets: z.array(
    z.strictObject({
      kind: z.enum(['key', 'group']),
      name: text,
      currency: text,
      period: text,
      limit: money,
      limit_micros: micros,
      spent: money.nullable(),
      spent_micros: micros.nullable(),
      reserved: money,
      reserved_micros: micros,
      degraded: z.boolean(),
    }),
  ),
  processes,
});
