/** `switch-route`: does not change the body. It may reroute the request to another model before translation: see `switches.ts`. */
import type { Mode } from '../mode.ts';
import { RuleError } from '../rule-error.ts';
import { readQuestions } from '../switches.ts';

export const switchRoute: Mode = {
  takes: ['when', 'use_model'],
  compile(rule) {
    readQuestions(rule);
    if (!rule.use_model) throw new RuleError('use_model', 'is required');
    return () => [];
  },
  needs: () => [],
};
