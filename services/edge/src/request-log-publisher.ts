/** Tells statistics of finished requests, once each, and counts what it could not tell. */
import type { Bus } from '@model-gateway/bus';
import type { RequestRow } from '@model-gateway/contracts';
import type { Logger } from '@model-gateway/telemetry';

export class RequestLogPublisher {
  readonly #bus: Bus;
  readonly #logger: Logger;
  lost = 0;

  constructor(bus: Bus, logger: Logger) {
    this.#bus = bus;
    this.#logger = logger;
  }

  /** `settled` runs when the bus has stored the row. */
  publish(row: RequestRow, settled?: () => void): void {
    this.#bus.publishDurable('stats.request', row.id, row).then(
      () => settled?.(),
      (error: unknown) => {
        this.lost++;
        this.#logger.error({ request: row.id, error }, 'row lost');
      },
    );
  }
}
