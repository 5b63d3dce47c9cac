/** What is known of models by their ids, and what a request costs. */
export * from './families/index.ts';
export * from './pricing/index.ts';
