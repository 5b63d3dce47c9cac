/** Header rules' regexes must be of the linear-time kind that the edge runs (RE2 syntax). */
import type { HeaderRule } from '@model-gateway/contracts';
import { RE2JS } from 're2js';
import type { Detail } from '../problem.ts';

export function checkHeaderRules(rules: readonly HeaderRule[]): Detail[] {
  return rules.flatMap((rule, index) => {
    if (rule.match !== 'regex') return [];
    try {
      RE2JS.compile(rule.value ?? '');
      return [];
    } catch (error) {
      const reason = error instanceof Error ? error.message.slice(0, 200) : 'it does not compile';
      return [{ field: `header_acl.${index}.value`, message: `is not a regular expression in RE2 syntax (no lookaround, no backreferences): ${reason}` }];
    }
  });
}
