/** Each service by name, made from the process's parts. */
import { createConsole } from '@model-gateway/console';
import { createEdge, type Edge, type EdgeDeps } from '@model-gateway/edge';
import { createMcpAggregator } from '@model-gateway/mcp-aggregator';
import { createRouter } from '@model-gateway/router';
import { createScriptRunner } from '@model-gateway/script-runner';
import { compose, type Service } from '@model-gateway/service-runtime';
import { createStats } from '@model-gateway/stats';
import { createTranslator } from '@model-gateway/translator';
import type { Parts } from './parts.ts';
import { findWebRoot } from './web-root.ts';

type Listen = NonNullable<EdgeDeps['listen']>;

const single = {
  stats: ({ bus, storage, logger, redactor, metrics, priceOf, catalog, keyring, config }: Parts): Service =>
    createStats({
      bus,
      storage: storage(),
      logger,
      metrics,
      priceOf,
      catalog: catalog(),
      secrets: { keyring: keyring(), redactor },
      keep: config.stats,
      turns: config.turns,
    }),
  console: (parts: Parts): Service =>
    createConsole({
      bus: parts.bus,
      storage: parts.storage(),
      keyring: parts.keyring(),
      outbound: parts.outbound(),
      config: parts.config.console,
      sso: parts.config.sso,
      logger: parts.logger,
      metrics: parts.metrics,
      webRoot: findWebRoot(),
      attempts: parts.attempts(),
      announcePassword: parts.announcePassword,
    }),
  router: ({ bus, catalog, config, tracer }: Parts): Service => createRouter({ bus, catalog: catalog(), config: config.router, tracer }),
  translator: ({
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
  }: Parts): Service =>
    createTranslator({
      bus,
      catalog: catalog(),
      outbound: outbound(),
      clientUrls: clientUrls(),
      publicUrls: publicUrls(),
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
    }),
  'script-runner': ({ bus, config, logger }: Parts): Service => createScriptRunner({ bus, config: config.scriptRunner, logger }),
  'mcp-aggregator': ({ bus, catalog, config, logger, redactor, metrics, outbound, state }: Parts): Service =>
    createMcpAggregator({ bus, catalog: catalog(), config: config.mcp, logger, redactor, metrics, outbound: outbound(), state: state() }),
  /** `listen`: how its server gets connections, where it does not listen itself. */
  edge: (parts: Parts, listen?: Listen): Edge => {
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
export function createDataPlane(parts: Parts, listen?: Listen): Service & Pick<Edge, 'port'> {
  const edge = single.edge(parts, listen);
  const together = compose([single.router(parts), single.translator(parts), edge], { logger: parts.logger });
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
