/** A key that a member makes: in a group that has the member, and within what that group allows. */
import { type Budget, budgetSchema, foldPerson, type KeyGroup } from '@model-gateway/contracts';
import type { CatalogWriter } from '@model-gateway/storage';
import { z } from 'zod';
import { invalidField, Problem } from '../problem.ts';
import { isMember, ownKeys, type Person } from './person.ts';

export const newMemberKey = z.strictObject({
  name: z
    .string()
    .max(64)
    .regex(/^[\p{L}\p{N}][\p{L}\p{N}._ -]*$/u, 'may hold letters, digits, spaces and . _ -, and begins with a letter or digit')
    .refine((name) => name === name.trim(), 'must not end with a space')
    .describe('What follows your user name and a dot in the name of the key'),
  group: z.string().max(200),
  description: z.string().max(2000).default(''),
  // Without `credit`: top-ups are an administrator's.
  budget: budgetSchema.omit({ credit: true }).nullable().default(null).describe('Within what the group allows; null: the most that it allows'),
  days: z.int().min(1).max(3650).nullable().default(null).describe('For so many days; null: for as long as the group allows'),
});
export type NewMemberKey = z.output<typeof newMemberKey>;

const dayMs = 86_400_000;

/** The body of the key. Inside the transaction that creates it, so that two at once do not pass the count. Throws 403, 404, 409 or 422. */
export async function memberKeyBody(writer: CatalogWriter, person: Person, wanted: NewMemberKey, now: number): Promise<Record<string, unknown>> {
  const stored = await writer.keyGroups.find(wanted.group);
  if (!stored?.document.enabled || !isMember(stored.document, person)) throw new Problem('not_found', 'You are a member of no key group of this name.');
  const rules = stored.document.member_keys ?? null;
  if (rules === null || rules.max === 0) throw new Problem('forbidden', 'Members cannot create keys in this group: ask an administrator for one.');
  const own = (await ownKeys(writer, person)).filter(({ document }) => document.group === wanted.group);
  if (own.length >= rules.max) throw new Problem('conflict', `You have ${own.length} keys in this group, which is the most it allows.`);
  return {
    name: `${person.username}.${wanted.name}`,
    group: wanted.group,
    owner: foldPerson(person.owner),
    description: wanted.description,
    budget: budgetWithin(wanted.budget, rules.max_budget),
    expires_at: expiryWithin(wanted.days, rules.max_days, now),
  };
}

type Rules = NonNullable<KeyGroup['member_keys']>;

function budgetWithin(wanted: Budget | null, allowed: Rules['max_budget']): Budget | null {
  if (allowed === null || wanted === null) return wanted ?? allowed;
  if (wanted.currency !== allowed.currency) throw invalidField('budget.currency', `must be ${allowed.currency} in this group`);
  if (wanted.period !== allowed.period) throw invalidField('budget.period', `must be ${allowed.period} in this group`);
  if (wanted.limit > allowed.limit) throw invalidField('budget.limit', `must be at most ${allowed.limit} in this group`);
  return wanted;
}

function expiryWithin(wanted: number | null, maxDays: number | null, now: number): string | null {
  if (wanted !== null && maxDays !== null && wanted > maxDays) throw invalidField('days', `must be at most ${maxDays} in this group`);
  const days = wanted ?? maxDays;
  return days === null ? null : new Date(now + days * dayMs).toISOString();
}
