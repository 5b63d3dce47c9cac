/** Runs a composed service as this process: probes, signals, drain. */
import { createProbeServer, runProcess, type Service } from '@model-gateway/service-runtime';
import type { Parts } from '../parts.ts';
import { applyV8Settings } from '../v8-settings.ts';

/** Beyond the drain's own time, for what is flushed and closed after it. */
const stopGraceMs = 5000;

/** How a process differs from one by itself. */
export interface RunOptions {
  /** false: another process answers the probes. */
  probes?: boolean;
  /** What `/metrics` shows. Default: this process's. */
  metrics?: { text(): Promise<string> };
  /** What SIGHUP does instead of draining. */
  onHangUp?(): void;
  /** For processes that this one waits for when it ends. */
  extraStopMs?: number;
}

export async function runService(service: Service, parts: Parts, options: RunOptions = {}): Promise<void> {
  applyV8Settings();
  const { config, logger } = parts;
  const metrics = options.metrics ?? parts.metrics;
  const probePort = options.probes === false ? null : config.process.probePort;
  const health = (): ReturnType<Service['health']> => running?.health() ?? service.health();
  parts.processHealth = health;
  const probes = probePort === null ? null : createProbeServer({ port: probePort, host: config.edge.host, health, metrics });
  // Probes first: a process that waits for a dependency answers "not ready" rather than nothing.
  await probes?.start();
  let running: Awaited<ReturnType<typeof runProcess>> | undefined;
  running = await runProcess({
    service,
    logger,
    lameDuckMs: config.edge.lameDuckMs,
    stopMs: config.edge.drainMs + stopGraceMs + (options.extraStopMs ?? 0),
    ...(options.onHangUp && { onHangUp: () => options.onHangUp?.() }),
    onStopped: async () => {
      await parts.close();
      await probes?.stop();
    },
  });
}
