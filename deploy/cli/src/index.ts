/** What tests and benchmarks compose gateways from. */
export * from './parts.ts';
export * from './services.ts';
