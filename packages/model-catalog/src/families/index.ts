/** What is known of a model by its id. */
export * from './family.ts';
export { findFamily } from './find.ts';
export { bareId } from './model-id.ts';
export { matchPieces } from './patterns.ts';
