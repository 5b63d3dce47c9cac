/** Several services as one: started in order, stopped in reverse, one health. */
import type { Logger } from '@model-gateway/telemetry';
import { startFault } from './listen.ts';
import type { Health, Service } from './service.ts';

/** A health check that throws counts as not ready, and must not fail the probe of the other services. */
function healthOf(service: Service): Health {
  try {
    return service.health();
  } catch {
    return { ready: false, reasons: ['health'] };
  }
}

/**
 * Composes services. `start` rejects with the first failure after stopping what had started, in reverse.
 * `stop` stops all even when some fail, then rejects with an AggregateError of their errors. Reasons read `service:reason`.
 */
export function compose(services: readonly Service[], { logger }: { logger: Logger }): Service {
  const started: Service[] = [];

  async function stopStarted(): Promise<unknown[]> {
    const errors: unknown[] = [];
    for (let service = started.pop(); service !== undefined; service = started.pop()) {
      try {
        await service.stop();
        logger.debug({ service: service.name }, 'service stopped');
      } catch (error) {
        errors.push(error);
        logger.error({ service: service.name, error }, 'service failed to stop');
      }
    }
    return errors;
  }

  return {
    name: services.map((service) => service.name).join('+'),
    async start() {
      for (const service of services) {
        const begun = performance.now();
        try {
          await service.start();
        } catch (error) {
          const fault = startFault(error);
          // What an operator can mend is said once, by the process.
          logger[fault === error ? 'error' : 'debug']({ service: service.name, error: fault }, 'service failed to start');
          await stopStarted();
          throw error;
        }
        started.push(service);
        logger.debug({ service: service.name, ms: Math.round(performance.now() - begun) }, 'service started');
      }
    },
    drain() {
      for (const service of started) {
        try {
          service.drain?.();
        } catch (error) {
          logger.error({ service: service.name, error }, 'service failed to drain');
        }
      }
    },
    async stop() {
      const errors = await stopStarted();
      if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of the services failed to stop`);
    },
    health() {
      const reasons: string[] = [];
      const notes: string[] = [];
      for (const service of services) {
        const health = healthOf(service);
        notes.push(...(health.notes ?? []).map((note) => `${service.name}:${note}`));
        if (!health.ready) reasons.push(...(health.reasons.length > 0 ? health.reasons : ['not-ready']).map((reason) => `${service.name}:${reason}`));
      }
      return { ready: reasons.length === 0, reasons, ...(notes.length > 0 && { notes }) };
    },
  };
}
