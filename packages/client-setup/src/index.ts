export * from './clients.ts';
export * from './dialects.ts';
export { printEnvironment, printFile, printStep } from './print.ts';
export { retriesBrokenStreams, retryingClients } from './retrying-clients.ts';
export type * from './setup.ts';
