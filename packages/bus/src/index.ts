/** Questions, streams and events between services: one interface, in process or over NATS. */
export * from './bus.ts';
export { createGatherer, type Gathered, type Gatherer, type GatherHandlers, serveGather } from './gather.ts';
export { joinBuses } from './join.ts';
export { withJournal } from './journal/with-journal.ts';
export type { BusLogger } from './kit/logger.ts';
export { settlesWithin } from './kit/settle-within.ts';
export { WholeMessages } from './kit/whole-messages.ts';
export { createMemoryBus, type MemoryBusOptions } from './memory/memory-bus.ts';
export { connectNatsBus } from './nats/connect.ts';
export type { NatsTls } from './nats/connection-options.ts';
export { describeNatsServer, passwordVariable } from './nats/describe-server.ts';
export type { NatsBusOptions } from './nats/nats-bus.ts';
export { createHubBus, type HubBus, type HubBusOptions } from './socket/hub-bus.ts';
export { connectSocketBus, type SocketBusOptions } from './socket/socket-bus.ts';
