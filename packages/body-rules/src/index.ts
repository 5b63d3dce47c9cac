/** Templates, and the rules that rewrite headers and bodies with them. */
export * from './facts.ts';
export * from './header-template.ts';
export type { Change, RuleContext } from './mode.ts';
export { RuleError } from './rule-error.ts';
export * from './rules.ts';
export * from './switches.ts';
export * from './template.ts';
