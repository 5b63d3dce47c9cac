/** A changed row as an admin may see it: field by field, secrets masked, and a mark where a secret changed behind its mask. */
import { isDeepStrictEqual } from 'node:util';
import type { RowChange, RowImage } from '@model-gateway/storage';
import { accessKeys } from '../resources/access-keys.ts';
import { alertChannels } from '../resources/alert-channels.ts';
import { keyGroups } from '../resources/key-groups.ts';
import { loadBalancers } from '../resources/load-balancers.ts';
import { mcpServers } from '../resources/mcp-servers.ts';
import { models } from '../resources/models.ts';
import { pricing } from '../resources/pricing.ts';
import type { Resource } from '../resources/resource.ts';
import { searchConfig } from '../resources/search-config.ts';
import { searchProviders } from '../resources/search-providers.ts';
import { upstreams } from '../resources/upstreams.ts';
import type { DiffSection, Section } from '../transfer/sections.ts';

/** A field before and after a change; secrets only as "changed". */
export interface FieldChange {
  before: unknown;
  after: unknown;
  /** The values behind the masks differ. */
  secret_changed?: true;
}

/** One row that differs between two revisions. */
export interface DescribedChange {
  section: DiffSection;
  name: string;
  change: 'created' | 'updated' | 'deleted';
  fields: Record<string, FieldChange>;
}

/** Resources of any kind: only what does not depend on the kind is used. */
type AnyResource = Pick<Resource<{ name: string }, { name: string }>, 'toReply' | 'secrets' | 'conceal'>;

const resources = {
  upstreams,
  models,
  load_balancers: loadBalancers,
  pricing,
  mcp_servers: mcpServers,
  search_providers: searchProviders,
  search_config: searchConfig,
  alert_channels: alertChannels,
  key_groups: keyGroups,
  access_keys: accessKeys,
} satisfies Record<Section, unknown> as unknown as Record<Section, AnyResource>;

/** Of a key: no part of the configuration. */
const notConfiguration = new Set(['last_used_at']);

export const describeChange = (change: RowChange): DescribedChange => ({ ...nameChange(change), fields: compare(change.section, change.before, change.after) });

const nameChange = ({ section, name, before, after }: RowChange): Omit<DescribedChange, 'fields'> => ({
  section,
  name: section === 'load_balancer_pins' ? name.replace('\n', '/') : name,
  change: before === null ? 'created' : after === null ? 'deleted' : 'updated',
});

/** An answer lists at most this many; the total is given in a field of its own. */
const maxListed = 500;

export const describeChanges = (changes: readonly RowChange[]): { total_changes: number; changes: DescribedChange[] } => ({
  total_changes: changes.length,
  changes: changes.slice(0, maxListed).map(describeChange),
});

/** Which rows came, changed and went, for the audit record of a whole commit. */
export function summarize(changes: readonly RowChange[]): Record<string, unknown> {
  const summary: Record<string, string[]> = {};
  for (const change of changes) {
    const { section, name, change: kind } = nameChange(change);
    const key = `${section} ${kind}`;
    const names = summary[key] ?? [];
    names.push(name);
    summary[key] = names;
  }
  return summary;
}

function compare(section: RowChange['section'], before: RowImage | null, after: RowImage | null): Record<string, FieldChange> {
  const [old, young] = [show(section, before), show(section, after)];
  const [oldSecrets, youngSecrets] = [secretsOf(section, before), secretsOf(section, after)];
  const fields: Record<string, FieldChange> = {};
  for (const field of new Set([...Object.keys(old), ...Object.keys(young)])) {
    const secretChanged = before !== null && after !== null && !isDeepStrictEqual(oldSecrets[field], youngSecrets[field]);
    if (!secretChanged && isDeepStrictEqual(old[field], young[field])) continue;
    fields[field] = { before: old[field] ?? null, after: young[field] ?? null, ...(secretChanged && { secret_changed: true }) };
  }
  return fields;
}

function show(section: RowChange['section'], image: RowImage | null): Record<string, unknown> {
  if (!image) return {};
  if (section === 'load_balancer_pins') return { ...image.document };
  const { toReply, conceal } = resources[section];
  const shown = toReply(image.document as never);
  return Object.fromEntries(Object.entries(conceal?.(shown) ?? shown).filter(([field]) => !notConfiguration.has(field)));
}

const secretsOf = (section: RowChange['section'], image: RowImage | null): Record<string, unknown> =>
  image && section !== 'load_balancer_pins' ? (resources[section].secrets?.(image.document as never) ?? {}) : {};
