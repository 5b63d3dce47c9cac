/** Logs, metrics and redaction: what a running process tells about itself. */
export * from './logger.ts';
export * from './metrics.ts';
export * from './process-metrics.ts';
export * from './redactor.ts';
