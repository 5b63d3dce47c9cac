/** Logs, metrics, traces and redaction. */
export * from './logger.ts';
export * from './metrics.ts';
export * from './process-metrics.ts';
export * from './redactor.ts';
export type { SamplerName } from './sampling.ts';
export * from './send-telemetry.ts';
export { endServed, type Span, type SpanAttributes, type SpanRole, type SpanStart, type SpanValue, type Tracer, traceFields } from './trace.ts';
