/** Body rules as the editor holds them: every value is text, since a form has nothing else. */
import type { BodyRuleInput, BodyRuleMode } from '@model-gateway/contracts';

export interface MatchForm {
  path: string;
  /** Text or JSON; '' in a predicate asks only whether the path is there. */
  equal: string;
}

/** A body rule, as the form holds it. */
export interface RuleForm {
  mode: BodyRuleMode;
  path: string;
  value: string;
  scope: string;
  where: MatchForm[];
  when: MatchForm[];
  use_model: string;
}

export type RulePart = 'path' | 'optional-path' | 'value' | 'condition' | 'when';

/** What each mode asks for; the order is that of the list. */
export const partsOf: Readonly<Record<BodyRuleMode, readonly RulePart[]>> = {
  overwrite: ['path', 'value'],
  remove: ['path'],
  'add-if-absent': ['path', 'value'],
  append: ['path', 'value'],
  'append-if-missing': ['path', 'value', 'condition'],
  'remove-matching': ['path', 'condition'],
  'strip-lines': ['path', 'value'],
  'filter-content-types': ['optional-path', 'value'],
  'filter-tools': ['optional-path', 'value'],
  'inject-system-prompt': ['value'],
  'switch-route': ['when'],
};

export const ruleModes = Object.keys(partsOf) as BodyRuleMode[];
export const newRule: RuleForm = { mode: 'overwrite', path: '', value: '', scope: '', where: [], when: [], use_model: '' };
export const newMatch: MatchForm = { path: '', equal: '' };

/** Modes whose value is words: nothing in them is read as a number or an object by mistake. */
const wordy: ReadonlySet<BodyRuleMode> = new Set(['inject-system-prompt']);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Strings are printed as they are, or quoted when they would be read as another type. */
const print = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' && value !== '' && !isJson(value) ? value : JSON.stringify(value);
const read = (text: string): BodyRuleInput['value'] => (isJson(text) ? (JSON.parse(text) as BodyRuleInput['value']) : text);

export const rulesForm = (rules: readonly BodyRuleInput[] | undefined): RuleForm[] =>
  (rules ?? []).map(({ mode, path, value, condition, when, use_model }) => ({
    mode,
    path: path ?? '',
    value: wordy.has(mode) && typeof value === 'string' ? value : print(value),
    scope: condition?.scope ?? '',
    where: (condition?.where ?? []).map((match) => ({ path: match.path ?? '', equal: print(match.equal) })),
    when: (when ?? []).map((predicate) => ({ path: predicate.path, equal: print(predicate.equal) })),
    use_model: use_model ?? '',
  }));

/** Only the fields of the mode are sent: what was typed for another one is kept in the form alone. */
export const rulesBody = (rules: readonly RuleForm[]): BodyRuleInput[] =>
  rules.map(({ mode, path, value, scope, where, when, use_model }) => {
    const parts = partsOf[mode];
    const takesPath = parts.includes('path') || parts.includes('optional-path');
    return {
      mode,
      ...(takesPath && path.trim() && { path: path.trim() }),
      ...(parts.includes('value') && { value: wordy.has(mode) ? value : read(value) }),
      ...(parts.includes('condition') && {
        condition: {
          ...(scope.trim() && { scope: scope.trim() }),
          where: where.map((match) => ({ path: match.path.trim(), equal: read(match.equal) ?? null })),
        },
      }),
      ...(parts.includes('when') && {
        when: when.map((match) => ({ path: match.path.trim(), ...(match.equal !== '' && { equal: read(match.equal) ?? null }) })),
        use_model: use_model.trim(),
      }),
    };
  });
