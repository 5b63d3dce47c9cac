/** Templates, and what is rewritten with them: headers and bodies. */
export * from './facts.ts';
export * from './header-template.ts';
export type { Change, RuleContext } from './mode.ts';
export { RuleError } from './rule-error.ts';
export * from './rules.ts';
export * from './switches.ts';
export * from './template.ts';
