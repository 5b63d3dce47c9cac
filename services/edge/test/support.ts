/** An edge on a bus, before a translator that the suite plays; and what suites poll for. */
import { type Bus, createMemoryBus, type ServerStream } from '@model-gateway/bus';
import { buildSnapshot, type CatalogWatcher } from '@model-gateway/catalog';
import { type EdgeConfig, loadConfig } from '@model-gateway/config';
import type { Job, RequestRow, TurnsCall, TurnsWrite } from '@model-gateway/contracts';
import { MemoryState } from '@model-gateway/distributed-state';
import { hashAccessKey, mintAccessKey } from '@model-gateway/secrets';
import { noPressure } from '@model-gateway/service-runtime';
import { createLogger, createMetrics } from '@model-gateway/telemetry';
import { createEdge, type Edge } from '../src/index.ts';

export interface Caller {
  key: string;
  id: string;
}

/** Two access keys of one group. */
export const callers: readonly [Caller, Caller] = [
  { key: mintAccessKey(), id: 'key_one' },
  { key: mintAccessKey(), id: 'key_two' },
];

interface Served {
  run?(job: Job, stream: ServerStream<'translator.run'>): void;
  turns?(call: TurnsCall, body: Uint8Array, stream: ServerStream<'translator.turns'>): void;
  write?(request: TurnsWrite, body: Uint8Array): void;
}

export interface Stage {
  edge: Edge;
  url: string;
  bus: Bus;
  rows: RequestRow[];
  logs: string[];
  /** The access keys, by whether they may be used. */
  allow(id: string, enabled: boolean): void;
  stop(): Promise<void>;
}

export const quiet = (logs: string[] = []) => createLogger({ level: 'warn', name: 'test', destination: { write: (line: string) => void logs.push(line) } });

/** Answers as router, translator and store of turns, on this bus. */
export function serveBehind(bus: Bus, served: Served): { rows: RequestRow[] } {
  const rows: RequestRow[] = [];
  bus.listenDurably('stats.request', async (batch) => void rows.push(...batch.map(({ event }) => event)), { maxWaitMs: 5 });
  bus.serve({
    ask: { 'router.plan': () => ({ revision: 1, model: 'm', nodes: [], balanced: true }) },
    open: {
      'translator.run': (job, _body, stream) => served.run?.(job, stream),
      'translator.turns': (call, body, stream) => served.turns?.(call, body, stream),
      'turns.write': (request, body, stream) => {
        served.write?.(request, body);
        stream.head({ stored: true });
        stream.tail({});
      },
    },
  });
  return { rows };
}

/** `bus`: one that others share; absent: its own. */
export async function startEdge(served: Served | { bus: Bus; rows: RequestRow[] }, config: Partial<EdgeConfig> = {}): Promise<Stage> {
  const logs: string[] = [];
  const logger = quiet(logs);
  const own = 'bus' in served ? null : createMemoryBus({ logger, strict: true });
  const bus = own ?? (served as { bus: Bus }).bus;
  const { rows } = 'bus' in served ? served : serveBehind(bus, served);
  const enabled = new Map(callers.map(({ id }) => [id, true]));
  const snapshotOf = (revision: number) =>
    buildSnapshot({
      revision,
      upstreams: [],
      models: [],
      load_balancers: [{ name: 'm', enabled: true, strategy: 'weighted', entries: [], aliases: [], static_binding: false } as never],
      key_groups: [{ name: 'g', models: ['*'], header_acl: [], strict_translation: false, enabled: true, description: '' }],
      access_keys: callers.map(({ key, id }) => ({
        id,
        name: id,
        group: 'g',
        enabled: enabled.get(id) === true,
        expires_at: null,
        hash: hashAccessKey(key),
      })),
    });
  let snapshot = snapshotOf(1);
  const catalog = { start: async () => {}, stop: async () => {}, current: () => snapshot, ready: true } as unknown as CatalogWatcher;
  const loaded = loadConfig({ env: { PORT: '0', HOST: '127.0.0.1', CONFIG_FILE: '/dev/null' } });
  const edge = createEdge({
    bus,
    catalog,
    config: { ...loaded.edge, drainMs: 500, ...config },
    logger,
    metrics: createMetrics({ service: 'test' }),
    state: new MemoryState(),
    priceOf: () => null,
    pressure: noPressure,
  });
  await edge.start();
  return {
    edge,
    bus,
    rows,
    logs,
    url: `http://127.0.0.1:${edge.port}`,
    allow(id, may) {
      enabled.set(id, may);
      snapshot = snapshotOf(snapshot.revision + 1);
    },
    async stop() {
      await edge.stop();
      await own?.drain();
    },
  };
}

export const bearer = ({ key }: Caller): Record<string, string> => ({ authorization: `Bearer ${key}` });

/** Resolves when `met` holds. */
export async function until(met: () => boolean, what: string, withinMs = 30_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!met()) {
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
