/** What this process says of its gates when everybody is asked. */
import type { StatePart, TranslatorLimits } from '@model-gateway/contracts';
import type { SharedState } from '@model-gateway/shared-state';
import type { Limiter } from './limiter.ts';

/** An answer has to fit into one message. */
const mostGates = 2000;

export const limitsPart = (limiter: Limiter, state: SharedState): TranslatorLimits => ({
  state: statePart(state),
  gates: limiter
    .gates()
    .slice(0, mostGates)
    .map(({ scope, held, waiting }) => ({ scope, used: held, waiting })),
});

function statePart(state: SharedState): StatePart {
  const { backend, degraded, degradedSince } = state.status();
  return { backend, degraded, degraded_since: degradedSince };
}
