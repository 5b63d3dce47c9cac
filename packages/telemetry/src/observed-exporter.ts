/** What goes to a collector, and whether it got there: said once when that changes, and counted. */
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { Logger } from './logger.ts';
import type { Counter } from './metrics.ts';

export type Signal = 'traces' | 'metrics';

/** What exporters of all signals are. */
export interface Exporter<Batch> {
  export(batch: Batch, done: (result: ExportResult) => void): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** Nothing is sent any more, as this process ends: counted like other losses, and no fault of the collector. */
export class SendingClosed extends Error {}

export interface HeardBy {
  signal: Signal;
  logger: Logger;
  /** Batches that were lost. */
  lost: Counter;
}

/** `taken` hears of each batch that it leaves where it waited. */
export function observedExporter<Batch>(exporter: Exporter<Batch>, { signal, logger, lost }: HeardBy, taken?: (batch: Batch) => void): Exporter<Batch> {
  let failing = false;
  const onResult = ({ code, error }: ExportResult): void => {
    const failed = code !== ExportResultCode.SUCCESS;
    if (failed) lost.add(1, { signal });
    if (failed === failing || error instanceof SendingClosed) return;
    failing = failed;
    if (failed) logger.warn({ signal, error }, 'the collector does not take what is sent');
    else logger.info({ signal }, 'the collector takes what is sent again');
  };
  return {
    export(batch, done) {
      taken?.(batch);
      exporter.export(batch, (result) => {
        onResult(result);
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}
