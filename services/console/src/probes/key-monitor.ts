/** Which upstream key each access key is bound to, or would be: what all live routers say, beside what the hash predicts. */
import type { KeyBinding } from '@model-gateway/contracts';
import { fingerprintOf, isGranted, pickKey } from '@model-gateway/routing';
import type { CatalogReader, ListQuery } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';
import { upstreamKeyMask } from '../resources/upstream-keys.ts';

/** The upstream key that a caller is bound to, or would get next. */
export interface MonitoredKey {
  upstream: string;
  /** Position of the upstream's key; -1 when none has a weight. */
  key_index: number;
  key_id: string | null;
  key: string;
  weight: number | null;
  source: 'binding' | 'prediction';
  /** A binding exists whose keys have changed since: the next request selects again. */
  stale: boolean;
  idle_seconds: number | null;
  /** The router whose binding this is. */
  process: string | null;
}

export interface KeyMonitor {
  items: { access_key: string; key_group: string; enabled: boolean; keys: MonitoredKey[] }[];
  total: number;
  processes: { answered: string[]; missing: string[] };
}

export async function monitorKeys(query: ListQuery, upstream: string | undefined, context: ConsoleContext): Promise<KeyMonitor> {
  const { page, reach, upstreams } = await context.storage.catalog.read(async (reader) => {
    const page = await reader.accessKeys.list(query);
    const groups = new Set(page.items.map(({ document: { group } }) => group));
    return {
      page,
      reach: await readReach(reader, [...groups]),
      upstreams: new Map((await reader.upstreams.all()).map(({ document }) => [document.name, document])),
    };
  });
  const { answers, missing } = await context.gatherer.gather('key-bindings', { accessKeys: page.items.map(({ document }) => document.name) });
  const bindings = freshest(answers);
  const items = page.items.map(({ document: { name, group, enabled } }) => ({
    access_key: name,
    key_group: group,
    enabled,
    keys: (reach.get(group) ?? []).flatMap((upstreamName): MonitoredKey[] => {
      const record = upstreams.get(upstreamName);
      if (!record || record.api_keys.length === 0 || (upstream !== undefined && upstream !== upstreamName)) return [];
      const binding = bindings.get(idOf(name, upstreamName));
      const stale = binding !== undefined && binding.fingerprint !== fingerprintOf(record.api_keys);
      const index = binding && !stale ? binding.keyIndex : pickKey(record.api_keys, name, upstreamName);
      const key = record.api_keys[index];
      return [
        {
          upstream: upstreamName,
          key_index: index,
          key_id: key?.id ?? null,
          key: key ? upstreamKeyMask : '',
          weight: key?.weight ?? null,
          source: binding && !stale ? 'binding' : 'prediction',
          stale,
          idle_seconds: binding ? Math.round(binding.idleMs / 1000) : null,
          process: binding?.process ?? null,
        },
      ];
    }),
  }));
  return { items, total: page.total, processes: { answered: answers.map(({ process }) => process).sort(), missing } };
}

const idOf = (accessKey: string, upstream: string): string => `${accessKey}\u0000${upstream}`;

/** Bindings are each router's own: the one used last is shown. */
function freshest(answers: readonly { process: string; answer: { bindings: KeyBinding[] } }[]): Map<string, KeyBinding & { process: string }> {
  const found = new Map<string, KeyBinding & { process: string }>();
  for (const { process, answer } of answers) {
    for (const binding of answer.bindings) {
      const id = idOf(binding.accessKey, binding.upstream);
      const known = found.get(id);
      if (!known || binding.idleMs < known.idleMs) found.set(id, { ...binding, process });
    }
  }
  return found;
}

/** Group → upstreams that its grants lead to, by model or by load balancer. */
async function readReach(reader: CatalogReader, groups: readonly string[]): Promise<Map<string, string[]>> {
  const models = (await reader.models.all()).map(({ document }) => document);
  const upstreamOf = new Map(models.map(({ name, upstream }) => [name, upstream]));
  const balancers = (await reader.loadBalancers.all()).map(({ document }) => document);
  const reach = new Map<string, string[]>();
  for (const { document: group } of await reader.keyGroups.named(groups)) {
    const reached = new Set<string>();
    for (const { name, upstream } of models) if (isGranted(group, name)) reached.add(upstream);
    for (const { name, entries } of balancers) {
      if (!isGranted(group, name)) continue;
      for (const { model } of entries) {
        const upstream = upstreamOf.get(model);
        if (upstream !== undefined) reached.add(upstream);
      }
    }
    reach.set(group.name, [...reached].sort());
  }
  return reach;
}
