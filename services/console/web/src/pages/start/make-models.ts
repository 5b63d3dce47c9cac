/** Makes the chosen models in one commit: all of them, or none. */
import { useQueryClient } from '@tanstack/react-query';
import { call, path } from '../../api/client.ts';
import type { Page } from '../../api/resources.ts';
import type { PlannedName } from './name-plan.ts';

interface Entry {
  action: 'create' | 'update' | 'delete';
  resource: string;
  name?: string;
  body?: object;
}

type Stored = Record<string, unknown> & { name: string };

/** Replies have these beside what may be sent. */
const ofReplies = new Set(['id', 'etag', '$etag', 'created_at', 'updated_at', 'state']);
const sendable = (stored: Stored): Stored => Object.fromEntries(Object.entries(stored).filter(([name]) => !ofReplies.has(name))) as Stored;

/**
 * A model of this name exists: it is made anew under a hidden name, with its prices, and a load balancer takes the name, so that callers notice nothing. Names
 * cannot be changed, which is why it is deleted first.
 */
async function joinModel({ id, name }: PlannedName, upstream: string): Promise<Entry[]> {
  const present = sendable(await call<Stored>(path('models', name)));
  const prices = await call<Page<Stored>>('pricing', { query: { model: name, page_size: 200 } });
  const kept = `${name}--${String(present['upstream'])}`;
  const added = `${name}--${upstream}`;
  return [
    { action: 'delete', resource: 'models', name },
    { action: 'create', resource: 'models', body: { ...present, name: kept, aliases: [], hide_name: true } },
    { action: 'create', resource: 'models', body: { name: added, upstream, upstream_model_id: id, hide_name: true } },
    ...prices.items.map(
      (price): Entry => ({ action: 'create', resource: 'pricing', body: { ...sendable(price), name: `${price.name} (${kept})`, model: kept } }),
    ),
    { action: 'create', resource: 'load-balancers', body: { name, aliases: present['aliases'], entries: [{ model: kept }, { model: added }] } },
  ];
}

async function joinBalancer({ id, name }: PlannedName, upstream: string): Promise<Entry[]> {
  const { entries } = await call<Stored & { entries: { model: string }[] }>(path('load-balancers', name));
  const added = `${name}--${upstream}`;
  return [
    { action: 'create', resource: 'models', body: { name: added, upstream, upstream_model_id: id, hide_name: true } },
    { action: 'update', resource: 'load-balancers', name, body: { entries: [...entries, { model: added }] } },
  ];
}

async function entriesOf(planned: PlannedName, upstream: string): Promise<Entry[]> {
  if (planned.joins) return planned.taken === 'model' ? joinModel(planned, upstream) : joinBalancer(planned, upstream);
  return [{ action: 'create', resource: 'models', body: { name: planned.name, upstream, upstream_model_id: planned.id } }];
}

/** Resolves to the names that callers use. Throws `ApiProblem`; nothing was made then. */
export function useMakeModels(upstream: string): (plan: readonly PlannedName[]) => Promise<string[]> {
  const client = useQueryClient();
  return async (plan) => {
    const entries = (await Promise.all(plan.map((planned) => entriesOf(planned, upstream)))).flat();
    await call('batch', { method: 'POST', body: { entries } });
    await Promise.all(['models', 'load-balancers', 'pricing', 'catalog-names'].map((queryKey) => client.invalidateQueries({ queryKey: [queryKey] })));
    return plan.map(({ name }) => name);
  };
}
