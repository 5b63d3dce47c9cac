/** Says where a request goes: which model, upstream and keys, in which order. */
import type { Bus, Disposable } from '@model-gateway/bus';
import type { CatalogWatcher } from '@model-gateway/catalog';
import { buildPlan } from '@model-gateway/routing';
import type { Service } from '@model-gateway/service';

export interface RouterDeps {
  bus: Bus;
  catalog: CatalogWatcher;
}

export function createRouter({ bus, catalog }: RouterDeps): Service {
  let doors: Disposable | undefined;
  let draining = false;
  return {
    name: 'router',
    async start() {
      await catalog.start();
      doors = bus.serve({ ask: { 'router.plan': async (request) => buildPlan(await catalog.at(request.revision), request) } });
    },
    async stop() {
      draining = true;
      await doors?.dispose();
      await catalog.stop();
    },
    health() {
      const reasons = [...(bus.connected ? [] : ['bus']), ...(catalog.ready ? [] : ['catalog']), ...(draining ? ['draining'] : [])];
      return { ready: reasons.length === 0, reasons };
    },
  };
}
