/** Tops a budget up, or resets it, in its present period: part of the configuration, so that every process goes by the same amount and the history has who did it. */
import { isDeepStrictEqual } from 'node:util';
import type { Budget } from '@model-gateway/contracts';
import { creditOf, periodStart } from '@model-gateway/limits';
import type { CatalogReader, CatalogWriter } from '@model-gateway/storage';
import { Problem } from '../problem.ts';

/** Whose budget. */
export interface BudgetOwner {
  kind: 'key' | 'group';
  name: string;
}

/** What is done to it. */
export type Credit = { topUpMicros: number } | { forgiveMicros: number };

/** As it is then; `at` is in the period that it is done to. */
export function creditBudget(budget: Budget, credit: Credit, at: number): Budget {
  const { topped_up_micros, forgiven_micros } = creditOf(budget, at);
  const next =
    'topUpMicros' in credit
      ? { topped_up_micros: topped_up_micros + credit.topUpMicros, forgiven_micros }
      : // All that was spent so far; top-ups of the period were for what is now forgotten.
        { topped_up_micros: 0, forgiven_micros: credit.forgiveMicros };
  return { ...budget, credit: { from: periodStart(budget.period, at), ...next } };
}

/**
 * As it is stored. A configuration file or a caller of the API that says nothing of top-ups and resets leaves them as they are. They are in the currency
 * that they were made in, and end where the budget gets another one, unless others are sent.
 */
export function withOwnCredit<D extends { budget?: Budget | null }>(document: D, before: { budget?: Budget | null } | undefined): D {
  const { budget } = document;
  const had = before?.budget;
  if (!budget || !had?.credit) return document;
  const isSame = budget.currency === had.currency;
  if (!budget.credit) return isSame && budget.period === had.period ? { ...document, budget: { ...budget, credit: had.credit } } : document;
  if (isSame || !isDeepStrictEqual(budget.credit, had.credit)) return document;
  const { credit: _ended, ...kept } = budget;
  return { ...document, budget: kept };
}

export async function readBudgetOf(reader: Pick<CatalogReader, 'accessKeys' | 'keyGroups'>, { kind, name }: BudgetOwner): Promise<Budget> {
  const owner = kind === 'key' ? await reader.accessKeys.find(name) : await reader.keyGroups.find(name);
  if (!owner) throw new Problem('not_found', `There is no ${kind === 'key' ? 'access key' : 'key group'} of this name.`);
  if (!owner.document.budget) throw new Problem('not_found', 'It has no budget.');
  return owner.document.budget;
}

/** Inside a commit. */
export async function writeBudgetOf(writer: CatalogWriter, { kind, name }: BudgetOwner, change: (budget: Budget) => Budget): Promise<void> {
  const budget = change(await readBudgetOf(writer, { kind, name }));
  if (kind === 'key') {
    const stored = await writer.accessKeys.find(name);
    if (stored) await writer.accessKeys.update(stored, { ...stored.document, budget });
  } else {
    const stored = await writer.keyGroups.find(name);
    if (stored) await writer.keyGroups.update(stored, { ...stored.document, budget });
  }
}
