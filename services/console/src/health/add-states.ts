/** Adds to answers about resources how each of them stands. */
import type { Budget } from '@model-gateway/contracts';
import { periodStart, spendableMicros } from '@model-gateway/limits';
import type { ConsoleContext } from '../context.ts';
import type { ResourcePath } from '../resources/resource.ts';
import type { AttemptStates } from './health-book.ts';
import { noState, type ResourceState, type StateName, stateOfMany } from './state-of-attempts.ts';

type Body = Record<string, unknown>;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const stateful = ['upstreams', 'models', 'load-balancers', 'key-groups', 'access-keys'] as const satisfies readonly ResourcePath[];

/** Whether answers about such resources have a state. */
export const hasState = (path: ResourcePath): path is (typeof stateful)[number] => stateful.some((one) => one === path);

/** As the API shows them: `api_keys` of an upstream have a state each. */
export async function addStates(path: ResourcePath, bodies: readonly Body[], context: ConsoleContext): Promise<Body[]> {
  if (bodies.length === 0) return [];
  if (!hasState(path)) return [...bodies];
  if (path === 'access-keys' || path === 'key-groups') return addRequestStates(path === 'access-keys' ? 'access_key' : 'key_group', bodies, context);
  const states = await context.health.attempts();
  if (path === 'upstreams') return bodies.map((body) => ({ ...body, ...upstreamStates(body, states) }));
  const enabled = await readEnabled(path, bodies, context);
  if (path === 'models') return bodies.map((body) => ({ ...body, state: modelState(textOf(body['name']), enabled, states) }));
  return bodies.map((body) => ({ ...body, state: balancerState(body, enabled, states) }));
}

function upstreamStates(body: Body, states: AttemptStates): Body {
  const name = textOf(body['name']);
  const off = body['enabled'] === false;
  const keys = Array.isArray(body['api_keys']) ? (body['api_keys'] as Body[]) : [];
  return {
    state: off ? noState('disabled') : states.upstream(name),
    api_keys: keys.map((key) => ({ ...key, state: off ? noState('disabled') : states.key(name, textOf(key['id'])) })),
  };
}

/** Name of each model that is there → whether it and its upstream are enabled. */
const readEnabled = (path: 'models' | 'load-balancers', bodies: readonly Body[], { storage: { catalog } }: ConsoleContext): Promise<Map<string, boolean>> =>
  catalog.read(async ({ models, upstreams }) => {
    const listed = path === 'models' ? (bodies as readonly { name: string; upstream: string; enabled: boolean }[]) : [];
    const known = new Map(listed.map((model) => [model.name, model]));
    const upstreamsOn = new Map<string, boolean>();
    const found = new Map<string, boolean>();
    for (const name of new Set([...known.keys(), ...bodies.flatMap((body) => entriesOf(body).map(({ model }) => model))])) {
      const model = known.get(name) ?? (await models.find(name))?.document;
      if (!model) continue;
      if (!upstreamsOn.has(model.upstream)) upstreamsOn.set(model.upstream, (await upstreams.find(model.upstream))?.document.enabled ?? false);
      found.set(name, model.enabled && (upstreamsOn.get(model.upstream) ?? false));
    }
    return found;
  });

const modelState = (name: string, enabled: ReadonlyMap<string, boolean>, states: AttemptStates): ResourceState =>
  enabled.get(name) ? states.model(name) : noState('disabled');

const entriesOf = (body: Body): { model: string; enabled: boolean }[] => (body['entries'] ?? []) as { model: string; enabled: boolean }[];

function balancerState(body: Body, enabled: ReadonlyMap<string, boolean>, states: AttemptStates): ResourceState {
  if (body['enabled'] === false) return noState('disabled');
  return stateOfMany(entriesOf(body).map((entry) => (entry.enabled === false ? noState('disabled') : modelState(entry.model, enabled, states))));
}

async function addRequestStates(of: 'access_key' | 'key_group', bodies: readonly Body[], context: ConsoleContext): Promise<Body[]> {
  const names = bodies.map((body) => textOf(body['name']));
  const [states, spent] = await Promise.all([context.health.requests(of, names), readSpent(of, bodies, context)]);
  return bodies.map((body) => {
    const name = textOf(body['name']);
    const state = states.get(name) ?? noState(body['last_used_at'] === null ? 'unused' : 'idle');
    const status = blockOf(body, spent.has(name), context.now());
    return { ...body, state: status === null ? state : { ...state, status } };
  });
}

/** Why none of its requests would pass, if so. */
function blockOf(body: Body, isSpent: boolean, now: number): StateName | null {
  if (body['enabled'] === false) return 'disabled';
  const expiresAt = textOf(body['expires_at']);
  if (expiresAt !== '' && Date.parse(expiresAt) <= now) return 'expired';
  return isSpent ? 'exhausted' : null;
}

type ShownBudget = Omit<Budget, 'limit'> & { limit: number | string };

/** Names of those whose budget is spent. */
async function readSpent(of: 'access_key' | 'key_group', bodies: readonly Body[], { storage, now }: ConsoleContext): Promise<ReadonlySet<string>> {
  const owners = bodies.flatMap((body) => {
    const budget = body['budget'] as ShownBudget | null | undefined;
    return budget ? [{ name: textOf(body['name']), budget }] : [];
  });
  if (owners.length === 0) return new Set();
  const kind = of === 'access_key' ? ('key' as const) : ('group' as const);
  const spent = await storage.requests.spent(
    owners.map(({ name, budget: { currency, period } }) => ({ kind, name, currency, from: periodStart(period, now()) })),
  );
  return new Set(
    owners.flatMap(({ name, budget }, index) => ((spent[index] ?? 0) >= spendableMicros({ ...budget, limit: Number(budget.limit) }, now()) ? [name] : [])),
  );
}
