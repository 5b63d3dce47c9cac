/** What is to be said of the configuration's fields. An entry point of its own, so that services do not load the texts. */
export * from './describe.ts';
export * from './facts.ts';
export * from './shapes.ts';
