/** The fake upstream's door. */
export * from './fixtures.ts';
export type { Play } from './reply.ts';
export * from './server.ts';
