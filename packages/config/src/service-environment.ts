/** Which variables of the environment each service reads: what a deployment gives to it, and nothing more. */
import { holdsMasterKey, type ServiceName } from '@model-gateway/contracts';
import { listVariables } from './config.ts';

/** Slices of the configuration that every service reads. */
const common = ['process', 'telemetry'];
/** The others, by service. */
const slices: Readonly<Record<ServiceName, readonly string[]>> = {
  edge: ['edge'],
  router: ['router'],
  translator: ['translator'],
  'data-plane': ['edge', 'router', 'translator'],
  'script-runner': ['scriptRunner'],
  'mcp-aggregator': ['mcp'],
  stats: ['storage', 'stats'],
  console: ['storage', 'console'],
};
/** Variables of other slices than their reader's. */
const more: Readonly<Partial<Record<ServiceName, readonly string[]>>> = {
  // They call addresses too.
  'mcp-aggregator': ['OUTBOUND_PRIVATE', 'USER_AGENT'],
  console: ['OUTBOUND_PRIVATE', 'USER_AGENT'],
};
/** Of the edge's slice, but of every process that has probes. */
const everywhere = ['HOST'];
/** Variables of the process that some do without. */
const limited: Readonly<Record<string, (service: ServiceName) => boolean>> = {
  GATEWAY_MASTER_KEY: holdsMasterKey,
  // Who reads the durable store sees to its copies.
  NATS_REPLICAS: (service) => service === 'stats',
};
/** Limits are counted by edges, translators and, of tool servers, by aggregators; failed sign-ins by consoles. */
const usesRedis = (service: ServiceName): boolean => ['edge', 'translator', 'data-plane', 'mcp-aggregator', 'console'].includes(service);

/** Names in the order of the documentation. */
export function environmentOf(service: ServiceName): string[] {
  const read = new Set([...common, ...slices[service]]);
  return listVariables().flatMap(({ owner, variable: { env } }) => {
    if (env === null) return [];
    if (!read.has(owner) && !everywhere.includes(env) && !more[service]?.includes(env)) return [];
    const reads = env.startsWith('REDIS_') ? usesRedis : limited[env];
    return (reads?.(service) ?? true) ? [env] : [];
  });
}
