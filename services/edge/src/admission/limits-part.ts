/** What this process says of its limits when everybody is asked. */
import type { EdgeLimits } from '@model-gateway/contracts';
import type { SharedState } from '@model-gateway/distributed-state';
import type { AdmissionControl } from '../context.ts';

export const createLimitsPart =
  ({ capacity, rateLimits, budgets }: Pick<AdmissionControl, 'capacity' | 'rateLimits' | 'budgets'>, state: SharedState) =>
  async (): Promise<EdgeLimits> => {
    const { backend, degraded, degradedSince } = state.status();
    const [keys, ips, budgetParts] = await Promise.all([rateLimits.shown('keys'), rateLimits.shown('ips'), budgets.shown()]);
    return {
      state: { backend, degraded, degraded_since: degradedSince },
      requests: { used: capacity.requests.used, limit: capacity.requests.cap },
      streams: { used: capacity.streams.used, limit: capacity.streams.cap },
      keys,
      ips,
      budgets: budgetParts,
    };
  };
