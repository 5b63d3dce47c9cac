/** Runs admins' scripts: the bus subscription, and the pool of processes behind it. */
import type { Bus, Disposable } from '@model-gateway/bus';
import type { ScriptRunnerConfig } from '@model-gateway/config';
import type { Service } from '@model-gateway/service-runtime';
import type { Logger } from '@model-gateway/telemetry';
import { ScriptPool } from './pool/pool.ts';
import { watchScripts } from './watch-scripts.ts';

export { type PoolOptions, type PoolRun, ScriptPool } from './pool/pool.ts';

/** What the script runner is built from. */
export interface ScriptRunnerDeps {
  bus: Bus;
  config: ScriptRunnerConfig;
  logger: Logger;
}

export function createScriptRunner({ bus, config, logger }: ScriptRunnerDeps): Service {
  const pool = new ScriptPool(
    {
      slots: config.poolSize,
      waitMs: config.waitMs,
      maxOperations: config.maxOperations,
      memoryLimitMb: config.memoryLimitMb,
      timeoutMs: config.timeoutMs,
      lazyBody: config.lazyBody,
    },
    logger,
  );
  let registrations: Disposable | undefined;
  let stopWatching: (() => void) | undefined;
  let draining = false;
  return {
    name: 'script-runner',
    async start() {
      registrations = bus.serve({
        open: {
          'script.run': ({ script, slot, context, owner }, body, stream) => {
            const run = pool.run({
              owner,
              request: { script, context, canSwitch: slot !== 'response_transform' },
              body,
              done: (outcome, texts) => stream.whole(outcome, texts, {}),
            });
            stream.onCancel(() => run.leave());
          },
        },
      });
      // Processes are started ahead of the first run, but not where nobody has a script.
      stopWatching = watchScripts(bus, { onFirst: () => pool.warm() });
    },
    drain() {
      draining = true;
    },
    async stop() {
      draining = true;
      stopWatching?.();
      await registrations?.dispose();
      pool.close();
    },
    health() {
      const reasons = [...(bus.connected ? [] : ['bus']), ...(draining ? ['draining'] : [])];
      return { ready: reasons.length === 0, reasons };
    },
  };
}
