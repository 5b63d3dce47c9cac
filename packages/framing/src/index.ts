/** Bytes to records: server-sent events, JSON arrays. */
export * from './framing-error.ts';
export * from './json-array.ts';
export * from './sse.ts';
