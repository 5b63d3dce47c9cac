/** What is known of a model by its id. */
export * from './family.ts';
export { bareId, findFamily, matchPieces } from './find.ts';
