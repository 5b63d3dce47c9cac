/** Reasoning effort in words against thinking budgets in tokens: this protocol's older models know only budgets, its newer ones only words. */
import type { Reasoning } from '../../chat/conversation.ts';

type Effort = NonNullable<Reasoning['effort']>;

/** Least budget the wire accepts. */
export const minBudget = 1024;

/** Each word's budget, rising. `none` asks for no thinking. */
const budgets: readonly [Effort, number][] = [
  ['none', 0],
  ['minimal', 1024],
  ['low', 2048],
  ['medium', 8192],
  ['high', 16_384],
  ['xhigh', 24_576],
  ['max', 32_768],
];

export const budgetOfEffort = (effort: Effort): number => budgets.find(([name]) => name === effort)?.[1] ?? 8192;

/** The smallest word whose budget is at least this one. */
export function effortOfBudget(budget: number): Effort {
  if (budget < 0) return 'medium';
  return budgets.find(([name, tokens]) => name !== 'none' && tokens >= budget)?.[0] ?? 'max';
}

/** The nearest word a model takes: itself, else the next weaker one, else the weakest. */
export function nearestEffort(effort: Effort, accepted: readonly string[]): string | undefined {
  const order = budgets.map(([name]) => name);
  for (let place = order.indexOf(effort); place > 0; place--) {
    const name = order[place];
    if (name !== undefined && accepted.includes(name)) return name;
  }
  return accepted[0];
}
