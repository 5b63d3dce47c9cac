/** The trial of body rules. */
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

/** The body after the rules, and which of them applied. */
export interface RuleTrialResult {
  body: unknown;
  /** Rules that changed something, by their place from 0. */
  applied: { index: number; mode: string; changes: number }[];
  /** Where a rule would send the request. */
  switch: { index: number; use_model: string } | null;
}

export const useRuleTest = () =>
  useMutation<RuleTrialResult, ApiProblem, RuleTrial>({ mutationFn: (trial) => call('rules/test', { method: 'POST', body: trial }) });
