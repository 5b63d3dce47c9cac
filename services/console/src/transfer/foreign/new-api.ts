/** The database of one-api or new-api, as a configuration of this gateway: channels, tokens and the groups that join them. */
import { type Converted, createNames, type Place, readSource } from './findings.ts';
import { type Channel, readChannel } from './new-api-channel.ts';
import { readToken } from './new-api-token.ts';

/** Rows by table, as the database has them. Of tables that are not read, how many rows there are. */
export interface NewApiTables {
  channels?: unknown[];
  tokens?: unknown[];
  options?: unknown;
  [table: string]: unknown;
}

const optionsSaid = 'Settings of the other gateway; prices as ratios are in here. Known list prices are used here: add prices of your own where they differ.';

/** A model that one channel serves is a model; one that several serve is a load balancer: priorities are tiers, weights hold inside of them. */
function groupChannels(channels: readonly Channel[]) {
  const byModel = new Map<string, { channel: Channel; id: string }[]>();
  for (const channel of channels) for (const { name, id } of channel.models) byModel.set(name, [...(byModel.get(name) ?? []), { channel, id }]);
  const models: Record<string, unknown>[] = [];
  const load_balancers: Record<string, unknown>[] = [];
  for (const [name, list] of byModel) {
    const [only] = list;
    if (list.length === 1 && only) {
      models.push({ name, upstream: only.channel.upstream, upstream_model_id: only.id });
      continue;
    }
    const sorted = [...list].sort((a, b) => b.channel.priority - a.channel.priority);
    const best = sorted[0]?.channel.priority;
    const tiers = new Set(sorted.map(({ channel }) => channel.priority)).size;
    const entries = sorted.map(({ channel, id }) => {
      const model = `${name}--${channel.upstream}`;
      models.push({ name: model, upstream: channel.upstream, upstream_model_id: id, hide_name: true });
      return { model, weight: channel.priority === best ? Math.max(1, channel.weight) : 0 };
    });
    const isChain = tiers === sorted.length;
    load_balancers.push({ name, strategy: isChain ? 'priority' : 'weighted', entries: isChain ? entries.map(({ model }) => ({ model })) : entries });
  }
  return { models, load_balancers };
}

/** Which names each group may use: those of its channels. */
function groupsOf(channels: readonly Channel[]): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>();
  for (const { groups: own, models } of channels)
    for (const group of own) {
      const names = groups.get(group) ?? new Set();
      for (const { name } of models) names.add(name);
      groups.set(group, names);
    }
  return groups;
}

export function convertNewApi(tables: NewApiTables): Converted {
  const source = readSource(tables);
  const { root } = source;
  const nameOf = createNames();
  const rows = (table: string): Place[] => root.at(table).list();
  const read = rows('channels').flatMap((place) => readChannel(place, nameOf));
  const channels = read.map(({ channel }) => channel);
  const groups = groupsOf(channels);
  const keyNames = createNames();
  const tokens = rows('tokens').flatMap((place) => readToken(place, { groups, nameOf: keyNames }));
  root.at('options').report('manual', optionsSaid);
  root.at('users').report('manual', 'People: console users with the role member take their place; passwords are not taken over.');
  const key_groups = [...[...groups].map(([name, names]) => ({ name, models: [...names] })), ...tokens.flatMap(({ group }) => (group ? [group] : []))];
  return {
    file: { version: 2, upstreams: read.map(({ upstream }) => upstream), ...groupChannels(channels), key_groups, access_keys: tokens.map(({ key }) => key) },
    findings: source.findings(),
  };
}
