/** Bytes to records: server-sent events, JSON arrays, binary event streams. */
export * from './event-stream.ts';
export type { EventStreamHeaders } from './event-stream-headers.ts';
export * from './form-data.ts';
export * from './framing-error.ts';
export * from './json-array.ts';
export * from './pieces.ts';
export * from './sse.ts';
