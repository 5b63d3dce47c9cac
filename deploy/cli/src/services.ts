/** Each service by name, made from the process's parts. A process loads the modules of those services alone that it runs. */
import type { Edge, EdgeDeps } from '@model-gateway/edge';
import { compose, type Service } from '@model-gateway/service-runtime';
import type { Parts } from './parts.ts';
import { findWebRoot } from './web-root.ts';

type Listen = NonNullable<EdgeDeps['listen']>;

const single = {
  stats: async ({ bus, storage, logger, redactor, metrics, priceOf, catalog, keyring, config }: Parts): Promise<Service> => {
    const { createStats } = await import('@model-gateway/stats');
    return createStats({
      bus,
      storage: await storage(),
      logger,
      metrics,
      priceOf,
      catalog: catalog(),
      secrets: { keyring: keyring(), redactor },
      keep: config.stats,
      turns: config.turns,
    });
  },
  console: async (parts: Parts): Promise<Service> => {
    const { createConsole } = await import('@model-gateway/console');
    return createConsole({
      bus: parts.bus,
      storage: await parts.storage(),
      keyring: parts.keyring(),
      outbound: await parts.outbound(),
      config: parts.config.console,
      sso: parts.config.sso,
      logger: parts.logger,
      metrics: parts.metrics,
      webRoot: findWebRoot(),
      attempts: parts.attempts(),
      announcePassword: parts.announcePassword,
    });
  },
  router: async ({ bus, catalog, config, tracer }: Parts): Promise<Service> => {
    const { createRouter } = await import('@model-gateway/router');
    return createRouter({ bus, catalog: catalog(), config: config.router, tracer });
  },
  translator: async ({
    bus,
    catalog,
    outbound,
    clientUrls,
    publicUrls,
    priceOf,
    keyring,
    logger,
    redactor,
    tracer,
    state,
    pressure,
    config: { edge, translator, turns },
  }: Parts): Promise<Service> => {
    const { createTranslator } = await import('@model-gateway/translator');
    return createTranslator({
      bus,
      catalog: catalog(),
      outbound: await outbound(),
      clientUrls: await clientUrls(),
      publicUrls: await publicUrls(),
      priceOf,
      keyring: keyring(),
      logger,
      redactor,
      tracer,
      state: state(),
      pressure: pressure(),
      config: {
        leaveMs: edge.lameDuckMs + edge.drainMs,
        retryBudget: { share: translator.retryBudgetPercent / 100, floor: translator.retryBudgetFloor },
        drains: { max: translator.maxDrains, ms: translator.drainMs },
        maxHops: translator.maxHops,
        // A history becomes the body of a request.
        turns: { enabled: turns.enabled, maxHistoryBytes: edge.maxBodyBytes },
      },
    });
  },
  'script-runner': async ({ bus, config, logger }: Parts): Promise<Service> => {
    const { createScriptRunner } = await import('@model-gateway/script-runner');
    return createScriptRunner({ bus, config: config.scriptRunner, logger });
  },
  'mcp-aggregator': async ({ bus, catalog, config, logger, redactor, metrics, outbound, state }: Parts): Promise<Service> => {
    const { createMcpAggregator } = await import('@model-gateway/mcp-aggregator');
    return createMcpAggregator({
      bus,
      catalog: catalog(),
      config: config.mcp,
      logger,
      redactor,
      metrics,
      outbound: await outbound(),
      state: state(),
      drainMs: config.edge.drainMs,
    });
  },
  /** `listen`: how its server gets connections, where it does not listen itself. */
  edge: async (parts: Parts, listen?: Listen): Promise<Edge> => {
    const { createEdge } = await import('@model-gateway/edge');
    const { bus, catalog, config, logger, metrics, tracer, state, priceOf, pressure } = parts;
    return createEdge({
      bus,
      catalog: catalog(),
      config: config.edge,
      logger,
      metrics,
      tracer,
      state: state(),
      priceOf,
      pressure: pressure(),
      processHealth: () => parts.processHealth(),
      ...(listen && { listen }),
    });
  },
} as const;

/** Edge, router and translator; the router first, and the edge last, so that who is called starts before its callers and stops after them. */
export async function createDataPlane(parts: Parts, listen?: Listen): Promise<Service & Pick<Edge, 'port'>> {
  const edge = await single.edge(parts, listen);
  const together = compose([await single.router(parts), await single.translator(parts), edge], { logger: parts.logger });
  return {
    ...together,
    name: 'data-plane',
    /** Requests pass between the three without the bus outside: while that is away they are served, so it is a note, and a balancer must not take all away. */
    health() {
      const { reasons, notes = [] } = together.health();
      const isBus = (reason: string): boolean => reason.endsWith(':bus');
      const hindering = reasons.filter((reason) => !isBus(reason));
      const noted = [...notes, ...reasons.filter(isBus)];
      return { ready: hindering.length === 0, reasons: hindering, ...(noted.length > 0 && { notes: noted }) };
    },
    get port() {
      return edge.port;
    },
  };
}

export const serviceFactories = { ...single, 'data-plane': (parts: Parts) => createDataPlane(parts) } as const;

export type ServiceName = keyof typeof serviceFactories;
export const serviceNames = Object.keys(serviceFactories) as ServiceName[];
