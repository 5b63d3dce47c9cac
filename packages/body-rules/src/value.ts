/** The value a rule writes: text with `{{` is a template, anything else is used as it is. */
import type { TemplateFacts } from './facts.ts';
import { RuleError } from './rule-error.ts';
import { compileTemplate, TemplateError } from './template.ts';

/** undefined: every variable was empty, and nothing is written. */
export type RuleValue = (facts: TemplateFacts) => unknown;

/** Throws RuleError for `value`. */
export function readValue(value: unknown): RuleValue {
  if (value === undefined) throw new RuleError('value', 'is required');
  if (typeof value !== 'string' || !value.includes('{{')) return () => value;
  try {
    const template = compileTemplate(value);
    return (facts) => template.render(facts);
  } catch (error) {
    if (error instanceof TemplateError) throw new RuleError('value', error.message);
    throw error;
  }
}

/** One text or several, none of them empty. */
export function readTexts(value: unknown, what: string): readonly string[] {
  const texts: unknown[] = Array.isArray(value) ? value : [value];
  if (texts.length === 0 || texts.some((text) => typeof text !== 'string' || text === '')) throw new RuleError('value', `must be ${what}, or a list of them`);
  return texts as string[];
}
