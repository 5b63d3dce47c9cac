/** Start, stop, health, signals, composition. */
export * from './service.ts';
