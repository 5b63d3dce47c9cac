/** The one table of error codes, and the branded error that crosses the bus. */
export * from './cancel-code.ts';
export * from './codes.ts';
export * from './gateway-error.ts';
