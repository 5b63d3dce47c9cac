/** Calls to upstreams: pools, time-outs, guarded addresses, one way for each to end. */
export * from './address.ts';
export { limitForShare } from './connection-shares.ts';
export { parseDnsServer } from './dns/parse-server.ts';
export * from './egress/check-tls.ts';
export * from './egress/egress.ts';
export * from './egress/parse-proxy.ts';
export * from './egress/read-egress.ts';
export * from './egress/read-headers.ts';
export * from './fault.ts';
export * from './host.ts';
export * from './outbound.ts';
export * from './outbound-call.ts';
export * from './sign-request.ts';
export * from './web-socket.ts';
