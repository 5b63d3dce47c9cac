/** Applies rules to a body in both passages: to its value, and to its bytes. */
import { type BodyRuleInput, bodyRulesSchema, type ProtocolId } from '@model-gateway/contracts';
import { applyEdits, JsonDocument } from '@model-gateway/json-bytes';
import { type BodyLayout, findProtocol } from '@model-gateway/protocols';
import { applyRules, compileRules, projectionOf, type TemplateFacts } from '../src/index.ts';

export const facts: TemplateFacts = {
  requestId: 'r-1',
  accessKeyName: 'ada',
  accessKeyGroup: 'team',
  accessKeyHash: () => '',
  systemPromptHash: () => 'hash',
  header: (name) => ({ 'x-tenant': 'acme', 'x-blank': ' \t' })[name],
};

export function layoutOf(id: ProtocolId, upstreamModelId = ''): BodyLayout {
  const layout = findProtocol(id)?.upstream?.bodyLayout?.({ baseUrl: '', directPath: false, upstreamModelId, neutralHeaders: false, extraConfig: null });
  if (!layout) throw new Error(`${id} has no anatomy`);
  return layout;
}

/**
 * The changed body, the changed text, and the number of rules that did something. Throws where a body of which only what the rules look at was read
 * comes out differently.
 */
export function tryRules(rules: readonly BodyRuleInput[], text: string, layout: BodyLayout | null = null): { value: unknown; text: string; applied: number } {
  const original: unknown = JSON.parse(text);
  const document = new JsonDocument(original);
  const compiled = compileRules(bodyRulesSchema.parse(rules));
  const applied = applyRules(document, compiled, { facts, layout });
  if (JSON.stringify(original) !== JSON.stringify(JSON.parse(text))) throw new Error('the original was changed');
  const bytes = Buffer.from(text);
  const changed = Buffer.from(applyEdits(bytes, document.edits())).toString();
  const { value, places } = projectionOf(compiled, layout).read(bytes);
  const partly = new JsonDocument(value);
  applyRules(partly, compiled, { facts, layout });
  const spliced = Buffer.from(applyEdits(bytes, partly.edits(), places)).toString();
  if (spliced !== changed) throw new Error(`read in parts:\n${spliced}\nread whole:\n${changed}`);
  return { value: document.value, text: changed, applied: applied.length };
}
