export * from './roster.ts';
