/** Start, stop, health, signals, composition. */
export * from './compose.ts';
export * from './descriptor-limit.ts';
export * from './listen.ts';
export * from './mint-id.ts';
export * from './pressure.ts';
export * from './probe-server.ts';
export * from './request-id.ts';
export * from './run-process.ts';
export * from './service.ts';
