/** Runs admins' scripts: the bus subscription, and the pool of processes behind it. */
import type { Bus, Disposable } from '@model-gateway/bus';
import type { CatalogWatcher } from '@model-gateway/catalog';
import type { ScriptRunnerConfig } from '@model-gateway/config';
import type { Snapshot } from '@model-gateway/contracts';
import type { Service } from '@model-gateway/service-runtime';
import type { Logger } from '@model-gateway/telemetry';
import { ScriptPool } from './pool/pool.ts';

export { type PoolOptions, type PoolRun, ScriptPool } from './pool/pool.ts';

/** What the script runner is built from. */
export interface ScriptRunnerDeps {
  bus: Bus;
  /** Tells whether there are scripts at all: before there are, no process is started. */
  catalog: CatalogWatcher;
  config: ScriptRunnerConfig;
  logger: Logger;
}

export function createScriptRunner({ bus, catalog, config, logger }: ScriptRunnerDeps): Service {
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
  let forget: (() => void) | undefined;
  let draining = false;
  const warm = (snapshot: Snapshot | null): void => {
    if (snapshot && hasScripts(snapshot)) pool.warm();
  };
  return {
    name: 'script-runner',
    async start() {
      forget = catalog.onChange(warm);
      await catalog.start();
      warm(catalog.current());
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
    },
    drain() {
      draining = true;
    },
    async stop() {
      draining = true;
      forget?.();
      await registrations?.dispose();
      pool.close();
      await catalog.stop();
    },
    health() {
      const reasons = [...(bus.connected ? [] : ['bus']), ...(draining ? ['draining'] : [])];
      return { ready: reasons.length === 0, reasons };
    },
  };
}

function hasScripts({ upstreams, models }: Snapshot): boolean {
  for (const records of [upstreams, models])
    for (const record of records.values()) if (record.request_transform_before || record.request_transform_after || record.response_transform) return true;
  return false;
}
