/** Calls to upstreams: pools, time-outs, guarded addresses, one way for each to end. */
export * from './address.ts';
export * from './fault.ts';
export * from './outbound.ts';
export * from './sign-request.ts';
