/** `switch-route` rules: the first that holds for the caller's own bytes sends the request on. */
import type { RouteStep } from '../draft.ts';
import { rulesOf } from '../route-rules.ts';

export const switchRoute: RouteStep = {
  name: 'switch-route',
  choose({ call, route }) {
    const { switches } = rulesOf(route);
    if (!switches) return undefined;
    // A rule that names where the request is, or the balancer that it came by, has had its way.
    return switches.holding(call.body).find(({ useModel }) => useModel !== route.model.name && useModel !== call.plan.model)?.useModel;
  },
};
