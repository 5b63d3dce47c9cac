export * from './chunk-garbage.ts';
export * from './dense-set.ts';
export * from './event-loop-batcher.ts';
export * from './number-map.ts';
