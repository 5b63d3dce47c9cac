/** Templates, and what is rewritten with them. */
export * from './facts.ts';
export * from './header-template.ts';
export * from './template.ts';
