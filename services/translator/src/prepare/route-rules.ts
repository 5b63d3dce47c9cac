/** The body rules of a route, read once for each model of a snapshot: those of its upstream first, then its own. */
import { type CompiledRule, compileRules, type Switches, switchesOf } from '@model-gateway/body-rules';
import type { Route } from '@model-gateway/routing';

/** The body rules of one route. */
export interface RouteRules {
  /** Rules that reroute requests; null: there are none. */
  switches: Switches | null;
  /** Rules that change bodies; null: there are none. */
  changes: readonly CompiledRule[] | null;
}

const none: RouteRules = { switches: null, changes: null };
const known = new WeakMap<Route['model'], { upstream: Route['upstream']; rules: RouteRules }>();

export function rulesOf({ model, upstream }: Pick<Route, 'model' | 'upstream'>): RouteRules {
  const ofUpstream = upstream.request_body_rules;
  const ofModel = model.request_body_rules;
  if (!ofUpstream?.length && !ofModel?.length) return none;
  const read = known.get(model);
  // Records are the same objects in every revision until they are changed.
  if (read?.upstream === upstream) return read.rules;
  const changes = [...compileRules(ofUpstream ?? []), ...compileRules(ofModel ?? [])];
  const rules = { switches: switchesOf(upstream, model), changes: changes.length > 0 ? changes : null };
  known.set(model, { upstream, rules });
  return rules;
}
