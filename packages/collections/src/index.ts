export * from './dense-set.ts';
export * from './event-loop-batcher.ts';
export * from './number-map.ts';
