/** Within what members make keys, with the money as people read it. */
import { type BudgetReply, type MemberKeys, showBudget } from '@model-gateway/contracts';

export type ShownMemberKeys = Omit<MemberKeys, 'max_budget'> & { max_budget: BudgetReply | null };

export const showMemberKeys = (rules: MemberKeys | null | undefined): ShownMemberKeys | null =>
  rules ? { ...rules, max_budget: showBudget({ budget: rules.max_budget }).budget ?? null } : null;
