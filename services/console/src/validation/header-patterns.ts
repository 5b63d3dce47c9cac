/** Header rules: regexes must be of the linear-time kind that the edge runs (RE2 syntax), and a value must be one that is looked at. */
import type { HeaderRule } from '@model-gateway/contracts';
import { RE2JS } from 're2js';
import type { Detail } from '../problem.ts';

export function checkHeaderRules(rules: readonly HeaderRule[]): Detail[] {
  return rules.flatMap((rule, index) => {
    if (rule.match === 'exists' || rule.match === 'absent') {
      // Who wrote one means it to be compared, and would let in everybody who sends the header.
      return rule.value ? [{ field: `header_acl.${index}.value`, message: `is not looked at by ${rule.match}: compare it with equals, or leave it out` }] : [];
    }
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
