/**
 * Differences between the vendor's model families in requests, derived from the table of model families: how thinking is requested, and what a call
 * must carry.
 */
import type { ModelFamily } from '@model-gateway/model-catalog';
import type { Target } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';

/** Rules for generate-content requests of one model family. */
export interface Family {
  /** `budget`: thinkingBudget in tokens; `level`: thinkingLevel; null: the family does not think and refuses thinkingConfig. */
  thinking: 'budget' | 'level' | null;
  /** Smallest budget, beside 0 where thinking can be switched off. */
  minTokens: number;
  /** Largest budget. */
  maxTokens: number;
  /** Whether thinking can be switched off. */
  optional: boolean;
  levels: readonly ThinkingLevel[];
  /** Answers 400 when the first call of a step comes back without its signature: https://ai.google.dev/gemini-api/docs/thought-signatures */
  needsCallSignature: boolean;
  /** Takes images and files inside functionResponse. */
  mediaInResults: boolean;
  /** Takes functions beside a JSON answer; the others answer 400. */
  formatBesideTools: boolean;
  /** Takes presencePenalty and frequencyPenalty; the others answer 400. */
  penalties: boolean;
  /** Of those that take levels: whether they take a budget too; the others answer 400. */
  budgetForLevel: boolean;
}

/** Weakest first. */
const thinkingLevels = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'XHIGH'] as const;
export type ThinkingLevel = (typeof thinkingLevels)[number];

/** The level asked for, or the next one up where the model lacks it: less thinking than asked for is the worse surprise. */
export const levelTaken = (wanted: ThinkingLevel, { levels }: Family): ThinkingLevel =>
  thinkingLevels.slice(thinkingLevels.indexOf(wanted)).find((level) => levels.includes(level)) ?? 'HIGH';

/** The level nearest to a budget in tokens. */
export const levelOfBudget = (budget: number): ThinkingLevel => (budget <= 1024 ? 'LOW' : budget <= 8192 ? 'MEDIUM' : 'HIGH');

/** Whether a caller's word is a level below the least that the model takes. A word above its highest may be one that only a newer model knows. */
export function isBelowLevels(word: string, { levels: [lowest] }: Family): boolean {
  const at = (thinkingLevels as readonly string[]).indexOf(word.toUpperCase());
  return at >= 0 && lowest !== undefined && at < thinkingLevels.indexOf(lowest);
}

const levelOf: Readonly<Record<ModelFamily['thinking']['efforts'][number], ThinkingLevel | undefined>> = {
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'XHIGH',
  max: undefined,
};

/** A model that is not the vendor's own: budgets are understood by every thinking generation, and nothing else is assumed. */
const foreign: Family = {
  ...{ thinking: 'budget', minTokens: 0, maxTokens: 24_576, optional: true, levels: [], needsCallSignature: false },
  ...{ mediaInResults: false, formatBesideTools: true, penalties: true, budgetForLevel: true },
};

export const geminiFamily = (target: Target): Family => rulesOf(familyOf(target));

/** Each request asks several times for one of few families. */
const made = new WeakMap<ModelFamily, Family>();

function rulesOf(family: ModelFamily): Family {
  if (family.vendor !== 'google') return foreign;
  let rules = made.get(family);
  if (!rules) {
    rules = makeRules(family);
    made.set(family, rules);
  }
  return rules;
}

function makeRules({ thinking, generateContent, needsCallSignature }: ModelFamily): Family {
  return {
    ...generateContent,
    thinking: thinking.style === 'none' ? null : thinking.style === 'effort' ? 'level' : 'budget',
    minTokens: thinking.min,
    maxTokens: thinking.max,
    optional: thinking.optional,
    levels: thinking.efforts.flatMap((effort) => levelOf[effort] ?? []),
    needsCallSignature: needsCallSignature,
  };
}
