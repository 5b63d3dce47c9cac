/** `switch-route` rules: the first that holds for the caller's own bytes reroutes the request. */
import { rulesOf } from '../route-rules.ts';
import type { RouteStep } from '../step.ts';

export const switchRoute: RouteStep = {
  name: 'switch-route',
  choose({ body, plan, route }) {
    const { switches } = rulesOf(route);
    if (!switches) return undefined;
    // A rule that names where the request is, or the balancer that it came by, has had its way.
    const holding = switches.holding(body.bytes).find(({ useModel }) => useModel !== route.model.name && useModel !== plan.plan.model);
    return holding && { rerouteTo: holding.useModel };
  },
};
