import type { Reasoning } from '../../chat/conversation.ts';
import { invalid } from '../../kit/fail.ts';
import type { Losses } from '../../kit/losses.ts';
import { asBoolean, asNumber, asString, type JsonObject, own } from '../../kit/read.ts';
import type { ChatFamily } from './families.ts';

type Effort = NonNullable<Reasoning['effort']>;

const efforts: ReadonlySet<string> = new Set<Effort>(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);

/** Every vendor's spelling of how much to think → the canonical form; undefined when the caller did not say. */
export function readReasoning(source: JsonObject): Reasoning | undefined {
  const object = own(source, 'reasoning');
  const thinking = own(source, 'thinking');
  const switched = asString(own(thinking, 'type'));
  const effort = readEffort(own(source, 'reasoning_effort') ?? own(object, 'effort'));
  const budget = asNumber(own(source, 'thinking_budget')) ?? asNumber(own(object, 'max_tokens')) ?? asNumber(own(thinking, 'budget_tokens'));
  const enabled = effort === 'none' ? false : (asBoolean(own(source, 'enable_thinking')) ?? asBoolean(own(object, 'enabled')) ?? readSwitch(switched));
  const summary = own(object, 'exclude') === true ? 'none' : readSummary(asString(own(object, 'summary')));
  if (effort === undefined && budget === undefined && enabled === undefined && summary === undefined) return undefined;
  return {
    ...(enabled !== undefined && { enabled }),
    ...(effort !== undefined && { effort }),
    ...(budget !== undefined && { budget }),
    ...(summary !== undefined && { summary }),
    ...(switched === 'adaptive' && { adaptive: true }),
  };
}

const readSwitch = (word: string | undefined): boolean | undefined => (word === undefined ? undefined : word !== 'disabled');

function readEffort(value: unknown): Effort | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !efforts.has(value))
    throw invalid('reasoning_effort', '`reasoning_effort` must be none, minimal, low, medium, high, xhigh or max.');
  return value as Effort;
}

const readSummary = (word: string | undefined): Reasoning['summary'] => (word === 'auto' || word === 'concise' || word === 'detailed' ? word : undefined);

const isOff = (reasoning: Reasoning): boolean => reasoning.enabled === false || reasoning.effort === 'none';

/** Whether a model of this family thinks about a request that asks so. */
export const thinksAbout = (reasoning: Reasoning | undefined, family: ChatFamily): boolean =>
  family.reasoning === 'none' || reasoning === undefined || (isOff(reasoning) && !canStopThinking(family))
    ? family.demandsReasoning === 'unless-off'
    : !isOff(reasoning);

/** Whether thinking can be turned off. */
export const canStopThinking = (family: ChatFamily): boolean => family.noEffort === 'none';

/** The request fields that ask this family for reasoning; what it cannot express is a declared loss. */
export function writeReasoning(reasoning: Reasoning, family: ChatFamily, losses: Losses): JsonObject {
  const off = isOff(reasoning);
  if (reasoning.summary !== undefined && reasoning.summary !== 'none' && family.reasoning !== 'reasoning-object') {
    losses.add('reasoning.summary', 'dropped', 'Chat completions decide themselves how readable reasoning is.');
  }
  switch (family.reasoning) {
    case 'none':
      if (!off) losses.add('reasoning', 'dropped', 'This model does not take a reasoning setting.');
      return {};
    case 'thinking-type':
      return off && canStopThinking(family) ? { thinking: { type: 'disabled' } } : writeSwitchedOn(reasoning, off, family, losses);
    case 'enable-thinking': {
      const idle = off || reasoning.budget === 0;
      const budget = idle ? undefined : writeBudget(reasoning, family, losses);
      return { enable_thinking: !idle, ...(budget !== undefined && { thinking_budget: budget }) };
    }
    case 'reasoning-object':
      return { reasoning: off ? { enabled: false } : writeReasoningObject(reasoning) };
    case 'effort': {
      const effort = off ? family.noEffort : writeEffort(reasoning, family, losses);
      if (off && effort === null) losses.add('reasoning.enabled', 'downgraded', 'This model always reasons; the least effort was asked for.');
      return effort === undefined ? {} : { reasoning_effort: effort ?? 'low' };
    }
  }
}

/** Thinking switched on, with an effort where the model takes one; a budget says less of that than the model's own default. */
function writeSwitchedOn(reasoning: Reasoning, off: boolean, family: ChatFamily, losses: Losses): JsonObject {
  const thinking = { type: 'enabled' };
  const [lowest] = family.efforts;
  if (off) {
    losses.add('reasoning.enabled', 'downgraded', 'This model always reasons; the least effort was asked for.');
    return { thinking, ...(lowest !== undefined && { reasoning_effort: lowest }) };
  }
  const effort = lowest !== undefined && reasoning.effort !== undefined ? writeEffort(reasoning, family, losses) : undefined;
  if (effort === undefined && (reasoning.effort !== undefined || reasoning.budget !== undefined))
    losses.add('reasoning.effort', 'downgraded', 'This model only knows reasoning on and off.');
  return { thinking, ...(effort !== undefined && { reasoning_effort: effort }) };
}

/** Aggregators take one of effort and budget. */
function writeReasoningObject(reasoning: Reasoning): JsonObject {
  const exclude = reasoning.summary === 'none' ? { exclude: true } : {};
  if (reasoning.budget !== undefined && reasoning.budget > 0) return { max_tokens: reasoning.budget, ...exclude };
  if (reasoning.effort !== undefined) return { effort: reasoning.effort === 'max' ? 'xhigh' : reasoning.effort, ...exclude };
  return { enabled: true, ...exclude };
}

function writeEffort(reasoning: Reasoning, family: ChatFamily, losses: Losses): string | undefined {
  const [only] = family.efforts;
  if (only !== undefined && family.efforts.length === 1) {
    if (reasoning.effort !== only) losses.add('reasoning.effort', 'downgraded', 'This model only knows reasoning on and off.');
    return only;
  }
  const nearest = reasoning.effort === undefined || family.firstParty ? undefined : nearestEffort(reasoning.effort, family.efforts);
  if (nearest !== undefined) {
    if (nearest !== reasoning.effort) losses.add('reasoning.effort', 'downgraded', 'The nearest effort of this model was asked for.');
    return nearest;
  }
  if (reasoning.effort === 'xhigh' || reasoning.effort === 'max') {
    const effort = strongest(reasoning.effort, family);
    if (effort !== reasoning.effort) losses.add('reasoning.effort', 'downgraded', 'The highest effort of this model was asked for.');
    return effort;
  }
  if (reasoning.effort === 'minimal' && family.firstParty && family.noEffort !== 'minimal') {
    losses.add('reasoning.effort', 'downgraded', 'The lowest effort of this model was asked for.');
    return 'low';
  }
  if (reasoning.effort !== undefined) return reasoning.effort;
  if (reasoning.budget === undefined || reasoning.budget < 0) return undefined;
  losses.add('reasoning.budget', 'downgraded', 'A budget in tokens was turned into an effort word.');
  const effort = effortOfBudget.find(([max]) => (reasoning.budget ?? 0) <= max)?.[1] ?? 'high';
  return family.firstParty ? effort : (nearestEffort(effort, family.efforts) ?? effort);
}

/** An effort above `high`, or the highest that the model takes. */
export const strongest = (effort: 'xhigh' | 'max', { highestEffort }: ChatFamily): string => (highestEffort === 'max' ? effort : highestEffort);

/** Budgets in tokens up to which an effort word is the nearest. */
const effortOfBudget: readonly (readonly [number, Effort])[] = [
  [2048, 'low'],
  [12_288, 'medium'],
];

/** The budget that an effort word stands for, where only a number is understood. */
const budgetOfEffort: Readonly<Partial<Record<Effort, number>>> = { minimal: 512, low: 2048, medium: 8192 };

const ranks: readonly string[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The word that the model takes: the next one above where it has no such word, else its highest. undefined: any word is taken, or none is known. */
export function nearestEffort(effort: string, taken: readonly string[]): string | undefined {
  if (taken.length === 0 || !ranks.includes(effort)) return undefined;
  return taken.find((word) => ranks.indexOf(word) >= ranks.indexOf(effort)) ?? taken.at(-1);
}

function writeBudget(reasoning: Reasoning, { maxBudget }: ChatFamily, losses: Losses): number | undefined {
  if (reasoning.budget !== undefined) {
    if (reasoning.budget > maxBudget) losses.add('reasoning.budget', 'downgraded', `Limited to ${maxBudget}, the most that this model thinks.`);
    return reasoning.budget < 0 ? undefined : Math.min(reasoning.budget, maxBudget);
  }
  if (reasoning.effort === undefined) return undefined;
  losses.add('reasoning.effort', 'downgraded', 'An effort word was turned into a budget in tokens.');
  const budget = budgetOfEffort[reasoning.effort];
  return budget === undefined ? undefined : Math.min(budget, maxBudget);
}
