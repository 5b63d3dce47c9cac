/** Runs a composed service as this process: probes, signals, drain. */
import { createProbeServer, runProcess, type Service } from '@model-gateway/service-runtime';
import type { Parts } from '../parts.ts';

/** Beyond the drain's own time, for what is flushed and closed after it. */
const stopGraceMs = 5000;

export async function runService(service: Service, parts: Parts): Promise<void> {
  const { config, logger, metrics } = parts;
  const { probePort } = config.process;
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
    stopMs: config.edge.drainMs + stopGraceMs,
    onStopped: async () => {
      await parts.close();
      await probes?.stop();
    },
  });
}
