/** Says where a request goes: which model, upstream and keys, in which order. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type Bus, type Disposable, serveGather } from '@model-gateway/bus';
import type { CatalogWatcher } from '@model-gateway/catalog';
import type { RouterConfig } from '@model-gateway/config';
import type { KeyBinding, Plan, PlanRequest, Snapshot } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { buildPlan, explainBalancer, explainRoute, type FindOwner, RoutingState } from '@model-gateway/routing';
import type { Service } from '@model-gateway/service-runtime';
import { accountOf, ownerTag } from '@model-gateway/signature-envelope';
import type { Tracer } from '@model-gateway/telemetry';
import { beginSpan, tracePlan } from './traced-plan.ts';

/** What the router is built from. */
export interface RouterDeps {
  bus: Bus;
  catalog: CatalogWatcher;
  config: RouterConfig;
  tracer?: Tracer | undefined;
  /** Between 0 and 1. */
  random?: () => number;
  /** A monotonic clock in ms. */
  now?: () => number;
}

const sweepMs = 30_000;

/** Which of a node's keys has the account that this tag names. */
const ownerFinder =
  (owner: string): FindOwner =>
  (model, upstream) =>
    upstream.api_keys.findIndex((key) => ownerTag(upstream.id, accountOf(key), model.name) === owner);

export function createRouter({ bus, catalog, config, tracer, random = Math.random, now = () => performance.now() }: RouterDeps): Service {
  const state = new RoutingState({ bindings: { ttlMs: config.keyBindingTtlMs }, random });
  const registrations: Disposable[] = [];
  let current: Snapshot | null = null;
  let forget: (() => void) | undefined;
  let sweeper: NodeJS.Timeout | undefined;
  let draining = false;
  /** How this process is named where several are asked. */
  const process = `router@${hostname()}/${randomBytes(4).toString('hex')}`;

  const adopt = (snapshot: Snapshot) => {
    state.adopt(snapshot, current);
    current = snapshot;
  };
  /** The newest revision is at hand: only another one is waited for. */
  const planned = (request: PlanRequest): Plan | Promise<Plan> => {
    const snapshot = catalog.at(request.revision);
    const findOwner = request.owner === undefined ? undefined : ownerFinder(request.owner);
    const build = (found: Snapshot): Plan => {
      if (!request.tentative) return buildPlan(found, request, { state, now: now(), findOwner });
      return { ...buildPlan(found, request, { state, now: now(), findOwner, peek: true }), tentative: true };
    };
    return snapshot instanceof Promise ? snapshot.then(build) : build(snapshot);
  };

  const plan = (request: PlanRequest): Plan | Promise<Plan> => {
    const span = beginSpan(request, tracer);
    return span ? tracePlan(span, () => planned(request)) : planned(request);
  };

  const nodesOf = async (name: string, revision: number) => {
    const snapshot = await catalog.at(revision);
    const balancer = snapshot.loadBalancers.get(name);
    if (!balancer) throw new GatewayError('not_found', { message: 'The router does not know this load balancer.' });
    return explainBalancer(snapshot, balancer, '', { state, now: now() });
  };
  const bindingsOf = (accessKey: string): KeyBinding[] =>
    state.bindings
      .of(accessKey, now())
      .map(({ upstream, index, fingerprint, usedAt }) => ({ accessKey, upstream, keyIndex: index, fingerprint, idleMs: Math.max(0, now() - usedAt) }));

  return {
    name: 'router',
    async start() {
      forget = catalog.onChange(adopt);
      await catalog.start();
      const known = catalog.current();
      if (known && !current) adopt(known);
      registrations.push(
        bus.serve({ ask: { 'router.plan': plan } }),
        serveGather(bus, process, {
          'key-bindings': ({ accessKeys }) => ({ bindings: accessKeys.flatMap(bindingsOf) }),
          'route-explain': async (request) => explainRoute(await catalog.at(request.revision), request, { state, now: now() }),
          'balancer-nodes': async ({ loadBalancer, revision }) => ({ nodes: await nodesOf(loadBalancer, revision) }),
        }),
        bus.listen('router.outcome', ({ outcomes }) => {
          for (const outcome of outcomes) state.health.record(outcome, current?.models.get(outcome.model), now());
        }),
      );
      sweeper = setInterval(() => state.sweep(current, now()), sweepMs).unref();
    },
    async stop() {
      draining = true;
      clearInterval(sweeper);
      forget?.();
      await Promise.all(registrations.map((registration) => registration.dispose()));
      await catalog.stop();
    },
    health() {
      const reasons = [...(bus.connected ? [] : ['bus']), ...(catalog.ready ? [] : ['catalog']), ...(draining ? ['draining'] : [])];
      return { ready: reasons.length === 0, reasons };
    },
  };
}
