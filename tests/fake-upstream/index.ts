/** The fake upstream's door. */
export * from './fixtures.ts';
export * from './server.ts';
