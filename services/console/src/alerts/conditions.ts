/** The conditions that alerts report, as far as they hold now. A condition keeps its id for as long as it lasts. */
import type { AlertEvent } from '@model-gateway/contracts';
import { newAddresses } from '../attention/new-addresses.ts';
import { unpricedModels } from '../attention/unpriced-models.ts';
import type { ConsoleContext } from '../context.ts';
import { isBroken } from '../health/state-of-attempts.ts';
import { readBudgets } from '../statistics/read-budgets.ts';

/** A condition that holds now. */
export interface Condition {
  event: AlertEvent;
  /** Of the state; `quiet` is the same for conditions of which one is reported within the quiet time. */
  id: string;
  quiet: string;
  subject: string;
  title: string;
  text: string;
  data: Readonly<Record<string, string | number | null>>;
  /** Of an access key: its owner gets the message too. */
  accessKey?: string;
  /** Where several of one group begin at once, only the last is reported. */
  group?: string;
  /** Whether it holds is not known: it does not begin now, and if it began earlier, it lasts. */
  undecided?: true;
}

const thresholds = [50, 80, 100] as const;
/** A key is near its expiry so long before. */
export const expiryNoticeMs = 7 * 24 * 3_600_000;
const maxOfKind = 200;

export const upstreamState = (name: string): string => `upstream_failing:${name}`;

export async function failingUpstreams({ storage, health }: ConsoleContext): Promise<Condition[]> {
  const [upstreams, states] = await Promise.all([storage.catalog.upstreams.all(), health.attempts()]);
  return upstreams.flatMap(({ document: { name, enabled } }) => {
    const state = enabled ? states.upstream(name) : null;
    // One that failed and is not called since has not recovered.
    const isUntried = state?.status === 'idle' || state?.status === 'unused';
    if (!state || !(isUntried || isBroken(state.status))) return [];
    const { status, attempts, failed, last_error } = state;
    const said = last_error === null ? '' : ` Last error: ${last_error}.`;
    return [
      {
        event: 'upstream_failing',
        id: upstreamState(name),
        quiet: upstreamState(name),
        subject: name,
        title: `Upstream ${name} is ${status}`,
        text: `${failed} of ${attempts} calls of the last 15 minutes failed.${said}`,
        data: { status, attempts, failed, last_error },
        ...(isUntried && { undecided: true }),
      } as const,
    ];
  });
}

const endings = {
  recovered: { title: 'has recovered', text: 'Its calls succeed again.' },
  disabled: { title: 'is switched off', text: 'It had not recovered: it gets no calls until somebody switches it on again.' },
  deleted: { title: 'was deleted', text: 'It had not recovered.' },
} as const;

/** An upstream fails no more, for one reason or another. */
export async function recovered({ storage }: Pick<ConsoleContext, 'storage'>, name: string): Promise<Condition> {
  const stored = await storage.catalog.upstreams.find(name);
  const reason = stored === null ? 'deleted' : stored.document.enabled ? 'recovered' : 'disabled';
  const { title, text } = endings[reason];
  const id = `upstream_recovered:${name}`;
  return { event: 'upstream_recovered', id, quiet: id, subject: name, title: `Upstream ${name} ${title}`, text, data: { reason } };
}

/** An address that may try no more passwords for a while. */
export const bannedAddress = (address: string, ms: number): Condition => ({
  event: 'ban',
  id: `ban:${address}`,
  quiet: `ban:${address}`,
  subject: address,
  title: `The address ${address} is banned from signing in`,
  text: `It failed to sign in to the console too often, and may try again in ${Math.ceil(ms / 60_000)} minutes.`,
  data: { address },
});

export async function budgets(context: ConsoleContext): Promise<Condition[]> {
  const { items } = await readBudgets(context, { atLeast: thresholds[0] / 100 });
  return items.flatMap(({ kind, name, period, from, limit, spent, currency, share }) =>
    thresholds
      .filter((threshold) => share * 100 >= threshold)
      .map((threshold): Condition => {
        const group = `budget:${kind}:${name}:${period}:${limit}:${from ?? ''}`;
        return {
          event: 'budget',
          id: `${group}:${threshold}`,
          quiet: `${group}:${threshold}`,
          group,
          subject: `${kind} ${name}`,
          title: `${kind === 'group' ? 'The group' : 'The key'} ${name} has spent ${threshold} % of its budget`,
          text: `${spent} of ${limit} ${currency} (${period === 'total' ? 'in total' : `each ${period}`}).${share >= 1 ? ' Its requests are refused.' : ''}`,
          data: { kind, name, threshold, spent, limit, currency, period },
          ...(kind === 'key' && { accessKey: name }),
        };
      }),
  );
}

export async function missingPrices(context: ConsoleContext): Promise<Condition[]> {
  const { found } = await unpricedModels(context);
  return found.slice(0, maxOfKind).map(
    ({ model, requests }): Condition => ({
      event: 'price_missing',
      id: `price_missing:${model}`,
      quiet: `price_missing:${model}`,
      subject: model,
      title: `The model ${model} has no price`,
      text: `${requests} requests of the last day count in no budget.`,
      data: { model, requests },
    }),
  );
}

export async function strangeAddresses(context: ConsoleContext): Promise<Condition[]> {
  const found = await newAddresses(context);
  return found.slice(0, maxOfKind).flatMap(({ access_key, addresses, first_at }) =>
    addresses.slice(0, 20).map(
      (address): Condition => ({
        event: 'key_new_address',
        id: `key_new_address:${access_key}:${address}`,
        quiet: `key_new_address:${access_key}`,
        subject: access_key,
        title: `The key ${access_key} is used from a new address`,
        text: `${address}, since ${first_at}. If that is not its owner, disable or rotate the key.`,
        data: { access_key, address, first_at },
        accessKey: access_key,
      }),
    ),
  );
}

export async function expiringKeys({ storage, now }: ConsoleContext): Promise<Condition[]> {
  const at = now();
  const keys = await storage.catalog.accessKeys.withText('expires_at');
  return keys.flatMap(({ document: { name, enabled, expires_at } }) => {
    const left = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - at;
    if (!enabled || expires_at === null || left <= 0 || left > expiryNoticeMs) return [];
    return [
      {
        event: 'key_expiring',
        id: `key_expiring:${name}:${expires_at}`,
        quiet: `key_expiring:${name}:${expires_at}`,
        subject: name,
        title: `The key ${name} expires soon`,
        text: `It works until ${expires_at}.`,
        data: { access_key: name, expires_at },
        accessKey: name,
      } as const,
    ];
  });
}

export async function endedLogins({ storage }: ConsoleContext): Promise<Condition[]> {
  const found = await storage.ssoCredentials.all();
  return found
    .filter(({ state }) => state !== 'ok')
    .map(
      ({ name, profile, state }): Condition => ({
        event: 'credential_needs_login',
        id: `credential_needs_login:${name}`,
        quiet: `credential_needs_login:${name}`,
        subject: name,
        title: `The credential ${name} needs a login`,
        text: `The upstreams that use it get no calls until somebody logs in again (${profile}).`,
        data: { credential: name, profile, state },
      }),
    );
}
