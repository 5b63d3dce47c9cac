export * from './directory.ts';
export * from './roster.ts';
