/** Sends traces and metrics to an OpenTelemetry collector (OTLP over HTTP). The OpenTelemetry modules are loaded only when a collector is configured. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Resource } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import type { SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { type ObserverOptions, observedExporter, SendingClosed, type Signal } from './observed-exporter.ts';
import { createSampler, type SamplerName } from './sampling.ts';
import { createTracer, type Tracer } from './trace.ts';

type Pairs = readonly (readonly [string, string])[];

/** The collector and what is sent to it; the configuration reads these from the `OTEL_*` variables. */
export interface SendingOptions {
  /** http or https; `/v1/traces` and `/v1/metrics` are added. */
  endpoint: string;
  protocol: 'http/protobuf' | 'http/json';
  headers: Pairs;
  compression: 'none' | 'gzip';
  /** Time-out of a batch, including retries. */
  timeoutMs: number;
  /** null: no traces. `share`: for the samplers that take one; `batchEveryMs`: how long spans are batched, unless a batch fills up earlier. */
  traces: { sampler: SamplerName; share: number; batchEveryMs: number } | null;
  /** null: no metrics. */
  metrics: { everyMs: number } | null;
  /** Resource attributes (`service.name` and the like); of a name given twice the last counts. */
  resource: Pairs;
}

/** Telemetry that is being sent, until `close`. */
export interface Sending {
  /** undefined: nothing is traced. */
  readonly tracer: Tracer | undefined;
  /** Sends what is queued, within this time. Never rejects. */
  close(withinMs: number): Promise<void>;
}

/** The logger and the metrics of the process. */
export interface SendingParts {
  logger: Logger;
  metrics: Metrics;
}

/** Maximum number of queued spans; further ones are dropped. */
const maxWaiting = 2048;
const batchSize = 512;
/** Batches on their way at once: all that may wait, and one more. */
const maxInProgress = 1 + maxWaiting / batchSize;

/** What both signals need: where to send, as what, and where failures are reported. */
interface Sender {
  options: SendingOptions;
  parts: SendingParts;
  resource: Resource;
  connection: Connection;
  observedBy(signal: Signal): ObserverOptions;
}

export async function sendTelemetry(options: SendingOptions, parts: SendingParts): Promise<Sending> {
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const connection = createConnection(options);
  const lost = parts.metrics.counter('gateway_telemetry_lost_total', 'Batches of traces and metrics that the collector did not take.');
  const sender: Sender = {
    options,
    parts,
    resource: resourceFromAttributes(Object.fromEntries(options.resource)),
    connection,
    observedBy: (signal) => ({ signal, logger: parts.logger, lost }),
  };
  const traces = options.traces && (await startTraces(sender, options.traces));
  const metrics = options.metrics && (await startMetrics(sender, options.metrics.everyMs));
  return {
    tracer: traces?.tracer,
    async close(withinMs) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs);
      });
      // The exporter has already logged what was not delivered.
      await Promise.race([Promise.allSettled([traces?.close(), metrics?.close()]), late]);
      clearTimeout(timer);
      connection.close();
    },
  };
}

/** The connections to the collector, and the headers of each call. */
function createConnection({ endpoint, protocol, headers, timeoutMs, compression }: SendingOptions) {
  const base = new URL(endpoint);
  const agent = base.protocol === 'https:' ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const sent = { ...Object.fromEntries(headers), 'Content-Type': protocol === 'http/json' ? 'application/json' : 'application/x-protobuf' };
  let closed = false;
  return {
    to(signal: Signal) {
      const url = new URL(base);
      url.pathname = `${base.pathname.replace(/\/$/, '')}/v1/${signal}`;
      return {
        url: url.href,
        headers: async () => {
          if (closed) throw new SendingClosed('closed');
          return { ...sent };
        },
        agentFactory: () => agent,
        timeoutMillis: timeoutMs,
        concurrencyLimit: maxInProgress,
        compression,
      };
    },
    /** Calls under way finish, and are not retried. */
    close() {
      closed = true;
      agent.destroy();
    },
  };
}

type Connection = ReturnType<typeof createConnection>;

// What the ready exporters consist of, but for their own look at the environment (decision 25).
const loadOtlp = () => Promise.all([import('@opentelemetry/otlp-exporter-base/node-http'), import('@opentelemetry/otlp-transformer')]);

async function startTraces(
  { options: { protocol, timeoutMs }, parts: { logger, metrics }, resource, connection, observedBy }: Sender,
  { sampler, share, batchEveryMs }: NonNullable<SendingOptions['traces']>,
): Promise<{ tracer: Tracer; close(): Promise<void> }> {
  const [{ createOtlpHttpExportDelegate }, { JsonTraceSerializer, ProtobufTraceSerializer, TraceExporterMetricsHelper }] = await loadOtlp();
  const { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } = await import('@opentelemetry/sdk-trace');
  const serializer = protocol === 'http/json' ? JsonTraceSerializer : ProtobufTraceSerializer;
  const plain = createOtlpHttpExportDelegate(connection.to('traces'), serializer, 'otlp_http_span_exporter', TraceExporterMetricsHelper, undefined);
  const dropped = metrics.counter('gateway_spans_dropped_total', 'Spans that found too many others waiting for the collector.');
  let waiting = 0;
  const exporter = observedExporter(plain, observedBy('traces'), (spans) => {
    waiting -= spans.length;
  });
  const batches = new BatchSpanProcessor({
    exporter,
    maxQueueSize: maxWaiting,
    maxExportBatchSize: batchSize,
    scheduledDelayMillis: batchEveryMs,
    exportTimeoutMillis: timeoutMs + 1000,
  });
  const counted: SpanProcessor = {
    onStart: () => undefined,
    onEnd(span) {
      if (waiting >= maxWaiting) return dropped.add(1);
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
  const provider = new TracerProvider({ resource, sampler: new AlwaysOnSampler(), spanProcessors: [counted] });
  const tracer = createTracer({ tracer: provider.getTracer('model-gateway'), decide: createSampler(sampler, share), redactor: logger.redactor });
  return { tracer, close: () => provider.shutdown() };
}

async function startMetrics(
  { options: { protocol, timeoutMs }, parts: { metrics }, resource, connection, observedBy }: Sender,
  everyMs: number,
): Promise<{ close(): Promise<void> }> {
  const [{ createOtlpHttpExportDelegate }, { JsonMetricsSerializer, ProtobufMetricsSerializer, MetricsExporterMetricsHelper }] = await loadOtlp();
  const serializer = protocol === 'http/json' ? JsonMetricsSerializer : ProtobufMetricsSerializer;
  const plain = createOtlpHttpExportDelegate(connection.to('metrics'), serializer, 'otlp_http_metric_exporter', MetricsExporterMetricsHelper, undefined);
  const reader = new PeriodicExportingMetricReader({
    exporter: observedExporter(plain, observedBy('metrics')),
    exportIntervalMillis: everyMs,
    exportTimeoutMillis: Math.min(timeoutMs, everyMs),
    metricProducers: [metrics.producer],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return { close: () => provider.shutdown() };
}
