import type { Reasoning } from '../../chat/conversation.ts';
import type { Losses } from '../../kit/losses.ts';
import type { ModelFamily } from './families.ts';
import type { WireRequest } from './wire.ts';

type Fields = NonNullable<WireRequest['additionalModelRequestFields']>;

/** Budgets in tokens up to which an effort word is the nearest. */
const effortOfBudget: readonly (readonly [number, string])[] = [
  [2048, 'low'],
  [12_288, 'medium'],
];

/** The fields that ask for reasoning, where the model takes them. */
export function writeReasoning(reasoning: Reasoning | undefined, family: ModelFamily, losses: Losses): Fields {
  if (!reasoning) return {};
  const off = reasoning.enabled === false || reasoning.effort === 'none';
  if (!family.takesFields) {
    if (!off) losses.add('reasoning', 'dropped', 'This model does not take a reasoning setting here.');
    return {};
  }
  if (off) return { thinking: { type: 'disabled' } };
  const effort = writeEffort(reasoning, family, losses);
  return { thinking: { type: 'adaptive' }, ...(effort !== undefined && { output_config: { effort } }) };
}

function writeEffort({ effort, budget }: Reasoning, family: ModelFamily, losses: Losses): string | undefined {
  if (effort === 'minimal' || (effort === 'xhigh' && !family.knowsXhigh)) {
    losses.add('reasoning.effort', 'downgraded', 'The nearest effort that this model knows was asked for.');
    return effort === 'minimal' ? 'low' : 'high';
  }
  if (effort !== undefined) return effort;
  if (budget === undefined || budget < 0) return undefined;
  losses.add('reasoning.budget', 'downgraded', 'A budget in tokens was turned into an effort word.');
  return effortOfBudget.find(([max]) => budget <= max)?.[1] ?? 'high';
}
