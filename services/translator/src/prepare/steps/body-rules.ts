/**
 * Body rules of the upstream, then of the model, on the body as it will be sent: on the value where it is translated, as edits of the caller's
 * bytes where these pass.
 */
import { JsonDocument } from '@model-gateway/json';
import type { BodyAnatomy } from '@model-gateway/protocols';
import { applyRules, type CompiledRule } from '@model-gateway/rewrite';
import { bodyFacts } from '../../attempt/template-facts.ts';
import type { Draft, Step } from '../draft.ts';
import { rulesOf } from '../route-rules.ts';

export const bodyRules: Step = {
  name: 'body-rules',
  run(draft) {
    const { changes } = rulesOf(draft.route);
    if (!changes) return undefined;
    const anatomy = draft.upstream.bodyAnatomy?.(draft.context.target) ?? null;
    const rules = draft.context.operation === 'count-tokens' ? countedRules(changes, anatomy) : changes;
    if (rules.length > 0) apply(draft, rules, anatomy);
    return undefined;
  },
};

function apply(draft: Draft, rules: readonly CompiledRule[], anatomy: BodyAnatomy | null): void {
  const { call, verbatim } = draft;
  const document = new JsonDocument(verbatim ? call.parseBody() : draft.body);
  // The rules see what the steps before them made.
  if (verbatim) document.apply(draft.edits);
  if (applyRules(document, rules, { facts: bodyFacts(call), anatomy }).length === 0) return;
  call.did('body-rules');
  if (verbatim) draft.edits = document.edits();
  else draft.body = document.value;
}

/** A counter takes the prompt alone: a temperature would make it refuse, and tokens are then only estimated. */
function countedRules(rules: readonly CompiledRule[], anatomy: BodyAnatomy | null): readonly CompiledRule[] {
  const counted = anatomy?.counted;
  if (!counted) return [];
  return rules.filter(({ rule }) => {
    const [first] = (rule.path || rule.condition?.scope || '').split('.');
    return !first || counted.includes(first);
  });
}
