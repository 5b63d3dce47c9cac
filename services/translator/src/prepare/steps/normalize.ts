/**
 * Auto normalization: what the model behind the upstream would refuse with a 400 (a temperature it does not take, a limit beyond its own) is
 * changed to what it takes, and declared. One rule set per protocol serves verbatim and translated requests: it sees top-level fields and answers with edits.
 */
import { isUnary } from '@model-gateway/contracts';
import type { Edit } from '@model-gateway/json-bytes';
import { asEdited } from '../as-edited.ts';
import type { Step } from '../step.ts';

export const normalize: Step = {
  name: 'normalize',
  run({ target, edits: earlier, value }, { body, record }) {
    const rules = target.adapter.normalize;
    if (!rules || isUnary(target.context.operation)) return undefined;
    const { edits, losses } = rules(target.verbatim ? (key) => body.topLevel(key) : fieldOf(value), target.context);
    if (edits.length === 0) return undefined;
    record.addStep('normalize');
    record.lose(losses);
    if (!target.verbatim) return { value: asEdited(value, edits) };
    return { edits: [...earlier, ...edits.filter((edit) => !earlier.some((one) => isWithin(edit, one)))] };
  },
};

const fieldOf =
  (value: unknown) =>
  (key: string): unknown =>
    typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;

/** Whether the place of an edit was taken by an earlier one: two edits of one value cannot both be made. */
const isWithin = (edit: Edit, earlier: Edit): boolean => earlier.path.every((step, at) => edit.path[at] === step);
