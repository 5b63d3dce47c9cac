/** `switch-route` rules: the first that holds for the caller's own bytes reroutes the request. */
import type { SwitchRule } from '@model-gateway/body-rules/switches';
import { rulesOf } from '../route-rules.ts';
import type { PrepareContext, RouteStep } from '../step.ts';

export const switchRoute: RouteStep = {
  name: 'switch-route',
  choose({ body, plan, route }) {
    const { switches } = rulesOf(route);
    if (!switches) return undefined;
    const holding = switches.holding(body.bytes).find((rule) => !hadItsWay(rule, { plan, route }));
    return holding && { rerouteTo: holding.useModel };
  },
};

/**
 * A rule that names where the request is, or the balancer that it came by. An upstream's rules were asked when the request was there before: asked again
 * after one of them held, its others would send the request on and back.
 */
const hadItsWay = ({ useModel, ofUpstream }: SwitchRule, { plan, route }: Pick<PrepareContext, 'plan' | 'route'>): boolean =>
  useModel === route.model.name || useModel === plan.plan.model || (ofUpstream && plan.leftUpstreams.includes(route.upstream.name));
