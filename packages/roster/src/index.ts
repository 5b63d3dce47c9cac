export * from './cohort.ts';
export * from './directory.ts';
export * from './roster.ts';
