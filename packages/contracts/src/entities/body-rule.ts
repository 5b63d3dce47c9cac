import { z } from 'zod';
import { modelName } from './name.ts';

/** The modes of the specification, in its order. */
export const bodyRuleModes = [
  'overwrite',
  'remove',
  'add-if-absent',
  'append',
  'append-if-missing',
  'remove-matching',
  'strip-lines',
  'filter-content-types',
  'filter-tools',
  'inject-system-prompt',
  'switch-route',
] as const;
export type BodyRuleMode = (typeof bodyRuleModes)[number];

/** Dotted: `a.b`, `messages.0.content`, `messages.*.content`. Which forms are refused is for `packages/body-rules` to say. */
const path = z.string().max(1024);

/** `path` inside the element, empty for the element itself. */
const matchSchema = z.strictObject({ path: path.default(''), equal: z.json() });

/** One change of the final upstream body, or (`switch-route`) one reason to send a request to another model. Which fields a mode takes is for `packages/body-rules` to say. */
export const bodyRuleSchema = z.strictObject({
  mode: z.enum(bodyRuleModes),
  path: path.nullish(),
  value: z.json().optional(),
  /** Where to act: elements of the array `scope` for which every condition in `where` holds. */
  condition: z.strictObject({ scope: path.nullish(), where: z.array(matchSchema).max(32) }).nullish(),
  /** When to act: one condition that holds is enough; without `equal` the path only has to exist. */
  when: z
    .array(z.strictObject({ path, equal: z.json().optional() }))
    .max(64)
    .nullish(),
  use_model: modelName.nullish(),
});
export const bodyRulesSchema = z.array(bodyRuleSchema).max(200);
export type BodyRule = z.output<typeof bodyRuleSchema>;
export type BodyRuleInput = z.input<typeof bodyRuleSchema>;
