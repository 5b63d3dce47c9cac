/** What is known of the models of a snapshot: the table of families, and what an admin knows better. */
import type { LoadBalancer, Model, Snapshot } from '@model-gateway/contracts';
import { findFamily, type ModelFamily, unknownFamily } from '@model-gateway/model-catalog';

/** Looked up once for each model of a snapshot: its record is the same object in every revision until it is changed. */
const families = new WeakMap<Model, ModelFamily>();

/** By the id that is sent, the model's own id behind an inference profile, or its name. `extra_config.context_window`, `max_output_tokens` and `vision` take the place of the table's. Frozen. */
export function familyOfModel(model: Model): ModelFamily {
  const known = families.get(model);
  if (known) return known;
  const named = findFamily(model.inference_profile ?? model.upstream_model_id, model.upstream_model_id);
  const family = withOwnFacts(named === unknownFamily ? findFamily(model.name) : named, model.extra_config);
  families.set(model, family);
  return family;
}

function withOwnFacts(family: ModelFamily, config: Model['extra_config']): ModelFamily {
  const context = tokens(config?.['context_window']);
  const output = tokens(config?.['max_output_tokens']);
  const vision = config?.['vision'];
  if (context === undefined && output === undefined && typeof vision !== 'boolean') return family;
  return Object.freeze({
    ...family,
    ...(context !== undefined && { context, input: context }),
    ...(typeof vision === 'boolean' && { vision }),
    ...(output !== undefined && { output, defaultOutput: Math.min(family.defaultOutput, output) }),
  });
}

const tokens = (value: unknown): number | undefined => (Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined);

/** The models that a load balancer may choose. */
export const membersOf = (snapshot: Snapshot, { entries }: LoadBalancer): Model[] =>
  entries.flatMap((entry) => (entry.enabled ? (snapshot.models.get(entry.model) ?? []) : [])).filter((model) => model.enabled);

/** What every model behind a load balancer has: the smallest window, and only abilities that all share. undefined when none can serve. */
export function familyOfBalancer(snapshot: Snapshot, balancer: LoadBalancer): ModelFamily | undefined {
  const [first, ...rest] = membersOf(snapshot, balancer).map(familyOfModel);
  if (!first) return undefined;
  return rest.reduce(
    (one, other) => ({
      ...(thinksLess(other, one) ? other : one),
      context: smaller(one.context, other.context),
      input: smaller(one.input, other.input),
      output: smaller(one.output, other.output),
      vision: one.vision && other.vision,
      pdf: one.pdf && other.pdf,
      tools: one.tools && other.tools,
      prices: null,
    }),
    first,
  );
}

/** Of two limits the one that both keep to; an unknown one says nothing. */
const smaller = (one: number | null, other: number | null): number | null => (one === null || other === null ? (one ?? other) : Math.min(one, other));

const thinksLess = (one: ModelFamily, other: ModelFamily): boolean =>
  one.thinking.style === 'none' || (other.thinking.style !== 'none' && one.thinking.efforts.length < other.thinking.efforts.length);
