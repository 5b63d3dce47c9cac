/** Offers the tools of all MCP servers at one address, to those who may use them. */
import { randomBytes } from 'node:crypto';
import { type Bus, type Disposable, serveGather } from '@model-gateway/bus';
import type { CatalogWatcher } from '@model-gateway/catalog';
import type { McpConfig } from '@model-gateway/config';
import type { Snapshot } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { SharedState } from '@model-gateway/distributed-state';
import { createMinter, type Service } from '@model-gateway/service-runtime';
import type { Logger, Metrics, Redactor } from '@model-gateway/telemetry';
import type { Outbound } from '@model-gateway/upstream-client';
import type { Caller } from './endpoint/caller.ts';
import type { EndpointContext } from './endpoint/context.ts';
import { HeldCalls } from './endpoint/conversation.ts';
import { Endpoint } from './endpoint/endpoint.ts';
import { Sessions } from './endpoint/sessions.ts';
import { Records } from './records.ts';
import { Registry } from './servers/registry.ts';
import { testTool } from './test-tool.ts';
import { Views } from './tools/views.ts';

/** What the aggregator is built from. */
export interface McpAggregatorDeps {
  bus: Bus;
  catalog: CatalogWatcher;
  config: McpConfig;
  logger: Logger;
  redactor: Redactor;
  metrics?: Metrics;
  outbound: Outbound;
  /** Where limits of servers are counted. */
  state: SharedState;
  /** How long calls that are under way may take once the process leaves. */
  drainMs: number;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

const version = '0.1.0';
/** How often open streams are checked for a key that may not be used any more. */
const accessCheckMs = 1000;

export function createMcpAggregator({ bus, catalog, config, logger, redactor, metrics, outbound, state, drainMs, now = Date.now }: McpAggregatorDeps): Service {
  // A name that says nothing of the machine: it is the beginning of sessions' ids.
  const process = randomBytes(9).toString('hex');
  const registry = new Registry({ bus, logger, redactor, outbound, state, version });
  const stopping = new AbortController();
  const context: EndpointContext = {
    registry,
    views: new Views(registry),
    sessions: new Sessions(process, () => registry.signingKeys),
    records: new Records({ bus, logger, mintId: createMinter(), now }),
    logger,
    snapshot: () => catalog.current(),
    maxToolTokens: config.maxToolTokens,
    version,
    running: new Map(),
    held: new HeldCalls(process),
  };
  const endpoint = new Endpoint(context, stopping.signal);
  metrics?.gauge('gateway_mcp_calls_held', 'Calls of tools that wait for input of their callers.', () => context.held.size);
  metrics?.gauge('gateway_mcp_exchanges_active', 'Exchanges with callers of tools under way.', () => endpoint.size);
  const registrations: Disposable[] = [];
  let forget: (() => void) | undefined;
  let draining = false;
  let mayStay: ((caller: Caller) => boolean) | undefined;
  // A key expires without a change of the configuration.
  const checkAccess = (): void => mayStay && endpoint.checkAccess(mayStay);
  let checks: NodeJS.Timeout | undefined;

  const adopt = (snapshot: Snapshot): void => {
    void registry.adopt(snapshot);
    const keys = new Map([...snapshot.accessKeys.values()].map((key) => [key.id ?? key.hash, key]));
    mayStay = ({ facts }: Caller): boolean => {
      const key = keys.get(facts.owner);
      const group = key && snapshot.keyGroups.get(key.group);
      return key?.enabled === true && group?.enabled === true && (key.expires_at === null || key.expires_at > now());
    };
    checkAccess();
  };

  return {
    name: 'mcp-aggregator',
    async start() {
      forget = catalog.onChange(adopt);
      checks = setInterval(checkAccess, accessCheckMs).unref();
      await Promise.all([catalog.start(), state.start()]);
      const known = catalog.current();
      if (known) await Promise.race([registry.adopt(known), new Promise((resolve) => setTimeout(resolve, 2000).unref())]);
      registrations.push(
        bus.serve({ ask: { 'mcp.test-tool': (asked) => testTool(asked, { registry, redactor, version }) } }),
        bus.listen('mcp.refresh', ({ server }) => registry.find(server)?.refreshSoon()),
        serveGather(bus, `mcp-aggregator@${process}`, {
          'mcp-servers': ({ server }) => ({
            servers: registry.servers.filter(({ name }) => server === undefined || name === server).map((one) => one.status(server !== undefined)),
          }),
        }),
        bus.serve({ open: { 'mcp.exchange': (...opened) => endpoint.handle(...opened) } }),
        bus.serveAs(process, { 'mcp.exchange': (...opened) => endpoint.handle(...opened) }),
      );
    },
    async stop() {
      draining = true;
      stopping.abort();
      forget?.();
      clearInterval(checks);
      const late = setTimeout(() => endpoint.interrupt(new GatewayError('draining')), drainMs);
      await Promise.all(registrations.map((registration) => registration.dispose()));
      clearTimeout(late);
      context.held.close();
      await registry.close();
      await catalog.stop();
    },
    health() {
      const reasons = [
        ...(registrations.length > 0 ? [] : ['starting']),
        ...(bus.connected ? [] : ['bus']),
        ...(catalog.ready ? [] : ['catalog']),
        ...(draining ? ['draining'] : []),
      ];
      return { ready: reasons.length === 0, reasons, ...(state.status().degraded && { notes: ['limits-by-share'] }) };
    },
  };
}
