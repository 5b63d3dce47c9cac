/** Which model, which upstream, which keys: decisions over a snapshot and over what is remembered of earlier requests. */
export * from './balance.ts';
export * from './bindings.ts';
export * from './circuit.ts';
export * from './explain.ts';
export * from './family.ts';
export * from './hash.ts';
export * from './health.ts';
export * from './names.ts';
export * from './nodes.ts';
export type { FindOwner } from './owner.ts';
export * from './pick-key.ts';
export * from './plan.ts';
export * from './reach.ts';
export * from './state.ts';
export * from './wildcard.ts';
