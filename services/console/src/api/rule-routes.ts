/** Tries body rules on a body: nothing is stored and nothing is sent. */

import { applyRules, compileRules, switchesOf, systemPromptHash, type TemplateFacts } from '@model-gateway/body-rules';
import { type BodyRule, bodyRulesSchema } from '@model-gateway/contracts';
import { JsonDocument } from '@model-gateway/json-bytes';
import type { Target } from '@model-gateway/protocols';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { invalid, invalidField } from '../problem.ts';
import { checkBodyRules } from '../validation/body-rules.ts';
import { readInput } from '../validation/read-input.ts';
import { ruleTest } from './answers/routing.ts';
import { base, type Route } from './route.ts';

const word = z.string().max(8192).default('');

const contextSchema = z
  .strictObject({
    request_id: word,
    request_access_key_name: word,
    request_access_key_group: word,
    system_prompt: z.string().max(1_000_000).default(''),
    headers: z.record(z.string().max(128), z.string().max(8192)).default({}),
    /** Some upstreams accept bodies of several vendors and distinguish them by the model. */
    upstream_model_id: word,
  })
  .partial();

export const ruleTestSchema = z.strictObject({
  rules: bodyRulesSchema,
  body: z.record(z.string(), z.json()),
  /** The protocol of the body: decides where content, tools and the system prompt stand. */
  protocol: z.string().max(64).optional(),
  context: contextSchema.default({}),
});

type Context = z.output<typeof contextSchema>;

export const ruleRoutes = (consoleContext: ConsoleContext): Route[] => [
  {
    method: 'post',
    path: `${base}/rules/test`,
    operationId: 'test_rules',
    summary: 'What body rules make of a body, and where a `switch-route` would send it; nothing is sent',
    tag: 'models',
    body: ruleTestSchema,
    status: 200,
    answer: ruleTest,
    handle(request, response) {
      const { rules, body, protocol, context } = readInput(ruleTestSchema, request.body);
      const faults = checkBodyRules(rules).map(({ field, message }) => ({ field: field.replace('request_body_rules', 'rules'), message }));
      if (faults.length > 0) throw invalid(faults);
      response.json(tryRules(rules, body, { facts: factsOf(context), layout: layoutOf(protocol, context.upstream_model_id ?? '', consoleContext) }));
    },
  },
];

function tryRules(rules: readonly BodyRule[], body: Record<string, unknown>, context: Parameters<typeof applyRules>[2]) {
  const document = new JsonDocument(body);
  const applied = applyRules(document, compileRules(rules), context);
  const [sent] = switchesOf({ name: '' }, { name: '', request_body_rules: rules })?.holding(Buffer.from(JSON.stringify(body), 'utf8')) ?? [];
  return {
    body: document.value,
    applied: applied.map(({ rule: { index, rule }, changes }) => ({ index, mode: rule.mode, changes })),
    switch: sent ? { index: sent.index, use_model: sent.useModel } : null,
  };
}

function layoutOf(id: string | undefined, upstreamModelId: string, { protocols }: ConsoleContext) {
  const found = id === undefined ? protocols[0] : protocols.find((protocol) => protocol.id === id);
  if (!found) throw invalidField('protocol', `is not one of ${protocols.map((protocol) => protocol.id).join(', ')}`);
  const target: Target = { baseUrl: '', directPath: false, upstreamModelId, neutralHeaders: false, extraConfig: null };
  return found.upstream.bodyLayout?.(target) ?? null;
}

function factsOf(context: Context): TemplateFacts {
  const headers = new Map(Object.entries(context.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    requestId: context.request_id ?? '',
    accessKeyName: context.request_access_key_name ?? '',
    accessKeyGroup: context.request_access_key_group ?? '',
    accessKeyHash: () => '',
    systemPromptHash: () => systemPromptHash(context.system_prompt ?? ''),
    header: (name) => headers.get(name),
  };
}
