/** What upstreams and models have in common: body rules, and scripts, as the API gives them and as forms hold them. */
import type { BodyRuleInput, ScriptSlot } from '@model-gateway/contracts';
import { type RuleForm, rulesBody, rulesForm } from './rule-form.ts';

export const scriptSlots: readonly ScriptSlot[] = ['request_transform_before', 'request_transform_after', 'response_transform'];

export interface StoredRewriting extends Partial<Record<ScriptSlot, string | null>> {
  request_body_rules?: BodyRuleInput[];
}

/** Scripts are empty where there is none. */
export interface RewritingForm extends Record<ScriptSlot, string> {
  request_body_rules: RuleForm[];
}

const scriptsOf = <T>(read: (slot: ScriptSlot) => T): Record<ScriptSlot, T> =>
  Object.fromEntries(scriptSlots.map((slot) => [slot, read(slot)])) as Record<ScriptSlot, T>;

export const rewritingForm = (stored: StoredRewriting): RewritingForm => ({
  request_body_rules: rulesForm(stored.request_body_rules),
  ...scriptsOf((slot) => stored[slot] ?? ''),
});

export const noRewriting: RewritingForm = rewritingForm({});

export const rewritingBody = (form: RewritingForm) => ({
  request_body_rules: rulesBody(form.request_body_rules),
  ...scriptsOf((slot) => (form[slot].trim() === '' ? null : form[slot])),
});
