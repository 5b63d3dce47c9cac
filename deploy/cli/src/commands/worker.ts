/** `model-gateway worker`: a process of `up --workers`, which starts it; edge, router and translator, everything else in the first process. */
import { connectSocketBus, createMemoryBus, joinBuses } from '@model-gateway/bus';
import { type Config, ConfigError, loadConfig } from '@model-gateway/config';
import { LeasedState, ProcessLink } from '@model-gateway/distributed-state';
import { grantedBytes, type Service } from '@model-gateway/service-runtime';
import { createParts, createState, type Parts, type SharedFrom } from '../parts.ts';
import { createDataPlane } from '../services.ts';
import { type FromWorker, isMessage, type ToWorker } from '../workers/messages.ts';
import { takeConnections } from '../workers/take-connections.ts';
import { runService } from './run.ts';

const readyLookMs = 25;

export async function worker(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const [socketPath = '', name = '', count = '', ...argv] = args;
  if (!process.send) throw new ConfigError('`worker` is started by `up --workers`; accepted: `up --workers N`');
  const config = shareOfMemory(loadConfig({ env, argv }), Number(count) + 1);
  const parts = await createParts(config, name, {
    bus: ({ logger }) => {
      const outer = connectSocketBus({ path: socketPath, name, logger, echo: false });
      return joinBuses(createMemoryBus({ logger }), outer);
    },
    journalName: 'worker',
    // Heartbeats of the others come through the first process, which may hang.
    processes: Number(count),
    state: (from) => (config.process.redisUrl === null ? leasedState(from) : createState(config.process, from)),
  });
  let taking: ReturnType<typeof takeConnections> | undefined;
  const dataPlane = await createDataPlane(parts, async (server) => {
    taking = takeConnections(server, process);
    return config.edge.port;
  });
  answerMetrics(parts);
  await runService(
    {
      ...dataPlane,
      async start() {
        await dataPlane.start();
        whenReady(dataPlane, parts, () => process.send?.({ type: 'ready' } satisfies FromWorker));
      },
      stop() {
        taking?.stop();
        return dataPlane.stop();
      },
    },
    parts,
    { probes: false },
  );
}

/** Connections come once it can serve them, and counts limits together with the others. */
function whenReady({ health }: Service, { state }: Parts, then: () => void): void {
  const timer = setInterval(() => {
    if (!health().ready || state().status().degraded) return;
    clearInterval(timer);
    then();
  }, readyLookMs);
}

/** The first process keeps the figures of all. */
function leasedState({ holder, replicas, logger, bus }: SharedFrom): LeasedState {
  const link = new ProcessLink({ ask: (call, deadlineMs) => bus.ask('limits.run', call, { deadlineMs }), logger });
  return new LeasedState({ link, backend: 'process', holder, logger, replicas });
}

/** Without a limit of its own each process has an equal part of what all of them were granted. */
function shareOfMemory(config: Config, processes: number): Config {
  if (config.process.memoryLimitBytes > 0) return config;
  return { ...config, process: { ...config.process, memoryLimitBytes: Math.floor(grantedBytes() / processes) } };
}

/** The first process shows the metrics of all on its port. */
function answerMetrics({ metrics }: Parts): void {
  process.on('message', (message) => {
    if (!isMessage(message) || message.type !== 'metrics') return;
    const { id } = message as ToWorker;
    void metrics.text().then((text) => process.send?.({ type: 'metrics', id, text } satisfies FromWorker));
  });
}
