/** Access keys and groups that have a budget, without the rest of their documents. */
import type { Budget } from '@model-gateway/contracts';
import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';

/** A key or group that has a budget. */
export interface BudgetHolder {
  kind: 'key' | 'group';
  name: string;
  budget: Budget;
}

const tables = { group: 'key_groups', key: 'access_keys' } as const;

/** All of them, groups first. */
export async function readBudgetHolders(db: Kysely<Database>): Promise<BudgetHolder[]> {
  const holders: BudgetHolder[] = [];
  for (const kind of ['group', 'key'] as const) {
    const rows = await db.selectFrom(tables[kind]).select(['name', 'budget']).where('budget', 'is not', null).execute();
    for (const { name, budget } of rows) if (budget !== null) holders.push({ kind, name, budget: JSON.parse(budget) as Budget });
  }
  return holders;
}
