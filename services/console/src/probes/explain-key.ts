/** What stands between an access key and every model, whichever is asked for: the key, its group, and what both may spend. */
import type { Budget, Explanation, KeyRateLimit } from '@model-gateway/contracts';
import { errorCodes } from '@model-gateway/contracts/errors';
import { periodStart, spendableMicros } from '@model-gateway/limits';
import type { AccessKeyDocument, KeyGroupDocument } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';

/** In millionths of its currency. */
export interface OwnBudget {
  kind: 'key' | 'group';
  name: string;
  currency: string;
  period: Budget['period'];
  limit_micros: number;
  spent_micros: number;
}

/** What an explanation needs of an access key. */
export interface KeyLook {
  name: string;
  group: string;
  /** The key's own limit, else its group's; null: what the edge's settings say, which is known once the key was seen. */
  limit: KeyRateLimit | null;
  budgets: OwnBudget[];
  /** Why the edge refuses this key, in more detail than callers get. */
  refusal: Explanation['refusal'];
}

/** null: there is no access key of this name. `at`: milliseconds since the epoch. */
export async function lookAtKey(name: string, at: number, { storage }: ConsoleContext): Promise<KeyLook | null> {
  const { key, group } = await storage.catalog.read(async (reader) => {
    const key = (await reader.accessKeys.find(name))?.document;
    return { key, group: key && (await reader.keyGroups.find(key.group))?.document };
  });
  if (!key) return null;
  const owners = [...ownerOf('key', key), ...(group ? ownerOf('group', group) : [])];
  const spent = await storage.requests.spent(
    owners.map(({ kind, name, budget }) => ({ kind, name, currency: budget.currency, from: periodStart(budget.period, at) })),
  );
  return {
    name: key.name,
    group: key.group,
    limit: limitOf(key) ?? (group ? limitOf(group) : null),
    budgets: owners.map(({ kind, name, budget }, index) => ({
      kind,
      name,
      currency: budget.currency,
      period: budget.period,
      limit_micros: spendableMicros(budget, at),
      spent_micros: spent[index] ?? 0,
    })),
    refusal: refuse(key, group, at),
  };
}

function refuse(key: AccessKeyDocument, group: KeyGroupDocument | undefined, at: number): Explanation['refusal'] {
  const because = (message: string) => ({ code: 'unauthorized', status: errorCodes.unauthorized.status, message });
  if (!key.enabled) return because('The access key is disabled.');
  if (key.expires_at !== null && Date.parse(key.expires_at) <= at) return because('The access key has expired.');
  return group?.enabled ? null : because('The key group is disabled.');
}

const limitOf = ({ rate_limit }: Pick<AccessKeyDocument, 'rate_limit'>): KeyRateLimit | null =>
  rate_limit === undefined || rate_limit === 'inherit' ? null : rate_limit;

/** Who may spend so much: nobody where there is no budget. */
export const ownerOf = (kind: OwnBudget['kind'], { name, budget }: { name: string; budget?: Budget | null }) => (budget ? [{ kind, name, budget }] : []);
