/** What suites import of the fake upstream. */
export * from './fixtures.ts';
export * from './realtime.ts';
export type { Play } from './reply.ts';
export * from './server.ts';
