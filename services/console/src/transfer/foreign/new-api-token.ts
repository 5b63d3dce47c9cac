/** A token: one access key, its money and what it may use. */
import type { Place } from './findings.ts';

/** Quota of a dollar. */
const quotaUnit = 500_000;

interface Making {
  /** Model names by group. */
  groups: ReadonlyMap<string, ReadonlySet<string>>;
  nameOf(wanted: string): string;
}

interface Token {
  key: Record<string, unknown>;
  /** A group of its own, where it may use less than its group. */
  group?: Record<string, unknown>;
}

const counted = ['id', 'user_id', 'created_time', 'accessed_time', 'used_quota', 'deleted_at'];
const isSet = (value: unknown): boolean => value === true || value === 1 || value === '1';

export function readToken(place: Place, { groups, nameOf }: Making): Token[] {
  const value = String(place.at('key').value ?? '');
  const deleted = place.at('deleted_at').value;
  if (value === '' || (deleted !== undefined && deleted !== null && deleted !== '')) {
    place.report(
      value === '' ? 'manual' : 'exact',
      value === '' ? 'The export has no key: read the database itself.' : 'A deleted token: nothing is made of it.',
    );
    return [];
  }
  place.at('key').report('exact', 'The access key’s value, with sk- before it, as callers have it.');
  place.at('name').report('exact', 'The access key’s name.');
  const status = place.at('status').number('exact', 'Whether the access key is enabled.');
  const expires = place.at('expired_time').number('exact', 'When the access key expires.');
  const quota = place.at('remain_quota').number('approximate', 'What is left, as a budget without a period: 500,000 are one US dollar.');
  place.at('unlimited_quota').report('exact', 'Whether there is a budget.');
  for (const name of counted) place.at(name).report('exact', 'What the other gateway counted; nothing is set by it here.');
  place.at('cross_group_retry').report('approximate', 'What a group may use is one list here.');
  const hasQuota = !isSet(place.at('unlimited_quota').value) && quota !== undefined;
  const name = nameOf(String(place.at('name').value || `token-${String(place.at('id').value ?? '')}`));
  const { group, own } = readGroup(place, name, groups);
  return [
    {
      key: {
        name,
        key: value.startsWith('sk-') ? value : `sk-${value}`,
        group,
        ...(status !== undefined && status !== 1 && { enabled: false }),
        ...(expires !== undefined && expires > 0 && { expires_at: new Date(expires * 1000).toISOString() }),
        ...(hasQuota && { budget: { limit: (Math.max(0, quota) / quotaUnit).toFixed(6), period: 'total' } }),
      },
      ...(own && { group: own }),
    },
  ];
}

/** The group that the token names, else `default`; with a list of models, a group of its own. */
function readGroup(place: Place, name: string, groups: Making['groups']): { group: string; own?: Record<string, unknown> } {
  const given = String(place.at('group').value ?? '');
  const wanted = given === '' ? 'default' : given;
  place
    .at('group')
    .report(given === '' ? 'approximate' : 'exact', given === '' ? 'The group of the token’s user is not read: default.' : 'The access key’s group.');
  const limits = String(place.at('model_limits').value ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  const isLimited = isSet(place.at('model_limits_enabled').value) && limits.length > 0;
  place.at('model_limits_enabled').report('approximate', 'What a key may use is decided by its group: such a token has a group of its own.');
  place.at('model_limits').report('approximate', 'The models of a group of its own.');
  const addresses = place.at('allow_ips');
  if (addresses.value === null || addresses.value === '') addresses.report('exact', 'Empty.');
  const known = groups.has(wanted);
  if (!isLimited && known) return { group: wanted };
  const names = groups.get(wanted);
  const own = { name: `${wanted}--${name}`, models: isLimited ? limits.filter((model) => !names || names.has(model)) : [] };
  return { group: own.name, own };
}
