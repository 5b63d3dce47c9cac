/** A key group's rules on the caller's headers: evaluated in order; the first that matches allows or denies the request. */
import type { HeaderRule } from '@model-gateway/contracts';
import { RE2JS } from 're2js';

type Headers = Readonly<Record<string, string | undefined>>;
type Test = (value: string | undefined, wanted: string, rule: HeaderRule) => boolean;

const tests: Record<HeaderRule['match'], Test> = {
  exists: (value) => value !== undefined,
  absent: (value) => value === undefined,
  equals: (value, wanted) => value === wanted,
  prefix: (value, wanted) => value?.startsWith(wanted) ?? false,
  suffix: (value, wanted) => value?.endsWith(wanted) ?? false,
  contains: (value, wanted) => value?.includes(wanted) ?? false,
  regex: (value, _wanted, rule) => value !== undefined && compiled(rule).matcher(value).find(),
};

/** Position of the rule that decides: the first that matches; -1 when none does. `headers` has lower-case names. */
export function decidingRule(rules: readonly HeaderRule[], headers: Headers): number {
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index]!;
    if (tests[rule.match](sentValue(headers, rule.header.toLowerCase()), rule.value ?? '', rule)) return index;
  }
  return -1;
}

/** When any `allow` rule exists and none matched, the request is denied. */
export function headersAllowed(rules: readonly HeaderRule[], headers: Headers): boolean {
  if (rules.length === 0) return true;
  const decided = rules[decidingRule(rules, headers)];
  return decided ? decided.action === 'allow' : !rules.some((rule) => rule.action === 'allow');
}

/** Only what was sent, never what every object inherits; the one header that Node keeps as a list is joined as Node joins the others. */
function sentValue(headers: Headers, name: string): string | undefined {
  if (!Object.hasOwn(headers, name)) return undefined;
  const value: unknown = headers[name];
  return Array.isArray(value) ? value.join(', ') : (value as string | undefined);
}

const patterns = new WeakMap<HeaderRule, RE2JS>();

/** Linear time whatever the pattern; an admin's regex never reaches the backtracking engine. */
function compiled(rule: HeaderRule): RE2JS {
  let pattern = patterns.get(rule);
  if (!pattern) {
    pattern = RE2JS.compile(rule.value ?? '');
    patterns.set(rule, pattern);
  }
  return pattern;
}
