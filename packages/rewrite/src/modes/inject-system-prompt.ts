/** `inject-system-prompt`: text before the system text, at the place where this protocol has it. */
import type { Mode } from '../mode.ts';
import { RuleError } from '../rule-error.ts';
import { readValue } from '../value.ts';

export const injectSystemPrompt: Mode = {
  takes: ['value'],
  compile(rule) {
    if (typeof rule.value !== 'string' || rule.value === '') throw new RuleError('value', 'must be the text of the prompt');
    const value = readValue(rule.value);
    return (body, { facts, anatomy }) => {
      const text = anatomy ? value(facts) : undefined;
      return anatomy && typeof text === 'string' ? anatomy.injectSystem(body, text) : [];
    };
  },
  needs: (_rule, anatomy) => anatomy?.systemNeeds ?? [],
  moves: () => true,
};
