/** The administration API: the only owner of the gateway's configuration. */
export { type Console, type ConsoleDeps, createConsole } from './console.ts';
