/** Which model, which upstream, which keys: pure decisions over a snapshot. */
export * from './names.ts';
export * from './pick-key.ts';
export * from './plan.ts';
export * from './wildcard.ts';
