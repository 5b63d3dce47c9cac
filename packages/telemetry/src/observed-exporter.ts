/** Wraps an exporter: logs when the collector becomes unreachable and when it is back, and counts lost batches. */
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { Logger } from './logger.ts';
import type { Counter } from './metrics.ts';

export type Signal = 'traces' | 'metrics';

/** The interface that exporters of all signals share. */
export interface Exporter<Batch> {
  export(batch: Batch, done: (result: ExportResult) => void): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** Aborted when this process ends and nothing more is sent: what is lost then is counted, but is no fault of the collector. */
export class SendingClosed extends Error {}

/** Where failures of one signal's exporter are reported. */
export interface ObserverOptions {
  signal: Signal;
  logger: Logger;
  /** Batches that were lost. */
  lost: Counter;
}

/** `taken` is called with each batch as it leaves the queue. */
export function observedExporter<Batch>(exporter: Exporter<Batch>, { signal, logger, lost }: ObserverOptions, taken?: (batch: Batch) => void): Exporter<Batch> {
  let failing = false;
  const onResult = ({ code, error }: ExportResult): void => {
    const failed = code !== ExportResultCode.SUCCESS;
    if (failed) lost.add(1, { signal });
    if (failed === failing || error instanceof SendingClosed) return;
    failing = failed;
    if (failed) logger.warn({ signal, error }, 'the collector does not accept telemetry');
    else logger.info({ signal }, 'the collector accepts telemetry again');
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
