/** Lists of body rules: compiled once, then applied to bodies one after the other. */
import type { BodyRule } from '@model-gateway/contracts';
import { type JsonDocument, type Need, Projection } from '@model-gateway/json-bytes';
import type { BodyLayout } from '@model-gateway/protocols';
import type { Change, RuleContext, RuleField } from './mode.ts';
import { modes } from './modes/index.ts';
import { RuleError } from './rule-error.ts';

/** A validation error of one rule, for the admin who saves the list. */
export interface RuleFault {
  /** Dotted path in the list: `3.path`. */
  field: string;
  message: string;
}

/** A rule ready to be applied, with its position in the configured list. */
export interface CompiledRule {
  rule: BodyRule;
  /** Position in its list. */
  index: number;
  change: Change;
}

const fields: readonly RuleField[] = ['path', 'value', 'condition', 'when', 'use_model'];
/** null and '' mean absent; forms may send them. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** Throws RuleError. */
function compileRule(rule: BodyRule): Change {
  const mode = modes[rule.mode];
  for (const field of fields) if (isGiven(rule[field]) && !mode.takes.includes(field)) throw new RuleError(field, `is not a field of ${rule.mode}`);
  return mode.compile(rule);
}

/** Validation for the console: what is wrong with a list; [] when nothing is. */
export function checkRules(rules: readonly BodyRule[]): RuleFault[] {
  return rules.flatMap((rule, index) => {
    try {
      compileRule(rule);
      return [];
    } catch (error) {
      if (error instanceof RuleError) return [{ field: `${index}.${error.field}`, message: error.message }];
      throw error;
    }
  });
}

/** A list that was checked when it was saved, without the rules that change no body. Throws RuleError for one that was not. */
export const compileRules = (rules: readonly BodyRule[]): CompiledRule[] =>
  rules.map((rule, index) => ({ rule, index, change: compileRule(rule) })).filter(({ rule }) => rule.mode !== 'switch-route');

const isPlace = (step: string): boolean => /^\d+$/.test(step);

/**
 * The parts of a body these rules read: on a projection of the body to these parts they return the same edits. After a rule that moves array
 * elements, a later rule's index may refer to any element.
 */
export function projectionOf(rules: readonly CompiledRule[], layout: BodyLayout | null): Projection {
  const needs: Need[] = [];
  let moved = false;
  for (const { rule } of rules) {
    const mode = modes[rule.mode];
    for (const need of mode.needs(rule, layout)) {
      needs.push(need);
      if (moved && need.path.some(isPlace)) needs.push({ ...need, path: need.path.map((step) => (isPlace(step) ? '*' : step)) });
    }
    moved ||= mode.moves?.(rule) === true;
  }
  return new Projection(needs);
}

/** Applies the rules in turn, each to the result of the one before. Returns those that changed something, with the number of their edits. */
export function applyRules(document: JsonDocument, rules: readonly CompiledRule[], context: RuleContext): { rule: CompiledRule; changes: number }[] {
  const applied: { rule: CompiledRule; changes: number }[] = [];
  for (const rule of rules) {
    const edits = rule.change(document.value, context);
    if (edits.length === 0) continue;
    document.apply(edits);
    applied.push({ rule, changes: edits.length });
  }
  return applied;
}
