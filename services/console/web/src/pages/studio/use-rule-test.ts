/** The trial of body rules. */
import type { RuleTest } from '@model-gateway/console/answers';
import type { BodyRuleInput } from '@model-gateway/contracts';
import { useMutation } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import type { ApiProblem } from '../../api/problem.ts';

/** Body rules and the body to try them on. */
export interface RuleTrial {
  rules: BodyRuleInput[];
  body: Record<string, unknown>;
  protocol: string;
  context: Record<string, unknown>;
}

export const useRuleTest = () => useMutation<RuleTest, ApiProblem, RuleTrial>({ mutationFn: (trial) => call('rules/test', { method: 'POST', body: trial }) });
