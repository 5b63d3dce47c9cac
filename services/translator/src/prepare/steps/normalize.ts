/**
 * Auto normalization: what the model behind the upstream would refuse with a 400 (a temperature it does not take, a limit beyond its own) is
 * changed to what it takes, and declared. One rule set per protocol serves verbatim and translated requests: it sees top-level fields and answers with edits.
 */
import type { Edit } from '@model-gateway/json-bytes';
import { asEdited } from '../as-edited.ts';
import type { Draft, Step } from '../draft.ts';

export const normalize: Step = {
  name: 'normalize',
  run(draft) {
    const rules = draft.upstream.normalize;
    if (!rules) return undefined;
    const { edits, losses } = rules(draft.verbatim ? (key) => draft.call.topLevel(key) : fieldOf(draft), draft.context);
    if (edits.length === 0) return undefined;
    draft.call.did('normalize');
    draft.call.lose(losses);
    if (draft.verbatim) draft.edits = [...draft.edits, ...edits.filter((edit) => !draft.edits.some((earlier) => isWithin(edit, earlier)))];
    else draft.body = asEdited(draft.body, edits);
    return undefined;
  },
};

const fieldOf =
  ({ body }: Draft) =>
  (key: string): unknown =>
    typeof body === 'object' && body !== null && Object.hasOwn(body, key) ? (body as Record<string, unknown>)[key] : undefined;

/** Whether the place of an edit was taken by an earlier one: two edits of one value cannot both be made. */
const isWithin = (edit: Edit, earlier: Edit): boolean => earlier.path.every((step, at) => edit.path[at] === step);
