/** What is logged while a durable listener refuses what it is given, as for as long as its database is away. */
import type { BusLogger } from './logger.ts';
import { Outage } from './outage.ts';

/** The refusals of one listener, or of all listeners of a subject, in the log: a line for each reason, and one when events are taken again. */
export class RefusedEvents {
  readonly #outage: Outage;
  #items = 0;

  constructor(logger: BusLogger, subject: string) {
    this.#outage = new Outage({
      begins: (_reason, error) => logger.warn({ error, subject, items: this.#items }, 'durable events were refused and will be delivered again'),
      ends: () => logger.info({ subject }, 'durable events are taken again'),
    });
  }

  refused(error: unknown, items: number): void {
    this.#items = items;
    this.#outage.met(reasonOf(error), error);
  }

  taken(): void {
    this.#outage.over();
  }
}

/** The gateway's own words are the same for much; the cause has the driver's. */
function reasonOf(error: unknown): string {
  const cause = (error as { cause?: unknown } | undefined)?.cause ?? error;
  // A host with several addresses refuses once for each.
  const causes: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return causes.map((one) => (one instanceof Error ? one.message : String(one))).join(', ');
}
