/** Ask, open, tell: one interface, in process or over NATS. */
export * from './bus.ts';
