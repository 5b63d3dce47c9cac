/** `inject-system-prompt`: puts text before the system prompt, wherever the protocol keeps it. */
import type { Mode } from '../mode.ts';
import { RuleError } from '../rule-error.ts';
import { readValue } from '../value.ts';

export const injectSystemPrompt: Mode = {
  takes: ['value'],
  compile(rule) {
    if (typeof rule.value !== 'string' || rule.value === '') throw new RuleError('value', 'must be the text of the prompt');
    const value = readValue(rule.value);
    return (body, { facts, layout }) => {
      const text = layout ? value(facts) : undefined;
      return layout && typeof text === 'string' ? layout.injectSystem(body, text) : [];
    };
  },
  needs: (_rule, layout) => layout?.systemNeeds ?? [],
  moves: () => true,
};
