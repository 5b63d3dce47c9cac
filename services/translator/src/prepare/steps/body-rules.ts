/**
 * Body rules of the upstream, then of the model, on the body as it will be sent: on the value where it is translated, as edits of the caller's
 * bytes where these pass, of which no more is read than the rules look at.
 */

import { applyRules, type CompiledRule, projectionOf } from '@model-gateway/body-rules';
import { isUnary, type Job } from '@model-gateway/contracts';
import { type Edit, JsonDocument, type Need, type Projection } from '@model-gateway/json-bytes';
import { type BodyLayout, findProtocol } from '@model-gateway/protocols';
import { bodyFacts } from '../../request/template-facts.ts';
import { rulesOf } from '../route-rules.ts';
import type { Step } from '../step.ts';
import type { UpstreamTarget } from '../upstream-request.ts';

export const bodyRules: Step = {
  name: 'body-rules',
  run({ target, edits, value }, current) {
    const { changes } = rulesOf(current.route);
    if (!changes) return undefined;
    const layout = layoutOf(target, current.request.job);
    const rules = target.context.operation === 'count-tokens' ? countedRules(changes, layout) : changes;
    if (rules.length === 0) return undefined;
    const read = target.verbatim && current.body.project(projectionFor(rules, layout), edits.map(needOf));
    const document = new JsonDocument(read ? read.value : value);
    // The rules see what the steps before them made.
    if (read) document.apply(edits);
    if (applyRules(document, rules, { facts: bodyFacts(current), layout }).length === 0) return undefined;
    current.record.addStep('body-rules');
    return read ? { edits: document.edits(), places: read.places } : { value: document.value };
  },
};

/** Only conversations have one. An upstream of which nothing is known gets them as its caller's protocol has them. */
function layoutOf({ adapter, context }: UpstreamTarget, { clientProtocol }: Job): BodyLayout | null {
  if (isUnary(context.operation)) return null;
  const speaks = adapter.passesAsIs ? findProtocol(clientProtocol)?.upstream : adapter;
  return speaks?.bodyLayout?.(context.target) ?? null;
}

/** What an edit of an earlier step changes is there to be changed. */
const needOf = ({ path }: Edit): Need => ({ path: [String(path[0])], depth: path.length > 1 ? 'value' : 'place' });

const projections = new WeakMap<readonly CompiledRule[], Map<BodyLayout | null, Projection>>();

/** Compiled once per rule set and body layout; the layout depends only on the protocol. */
function projectionFor(rules: readonly CompiledRule[], layout: BodyLayout | null): Projection {
  const known = projections.get(rules) ?? new Map<BodyLayout | null, Projection>();
  if (known.size === 0) projections.set(rules, known);
  let projection = known.get(layout);
  if (!projection) {
    projection = projectionOf(rules, layout);
    known.set(layout, projection);
  }
  return projection;
}

/** A counter takes the prompt alone: a temperature would make it refuse, and tokens are then only estimated. */
function countedRules(rules: readonly CompiledRule[], layout: BodyLayout | null): readonly CompiledRule[] {
  const counted = layout?.counted;
  if (!counted) return [];
  return rules.filter(({ rule }) => {
    const [first] = (rule.path || rule.condition?.scope || '').split('.');
    return !first || counted.includes(first);
  });
}
