export * from './clients.ts';
export * from './dialects.ts';
export { printEnvironment, printFile, printStep } from './print.ts';
export type * from './setup.ts';
