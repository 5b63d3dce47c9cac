/** This process's part of the limit status: the state of its admission queues. */
import type { GatePart, StatePart, TranslatorLimits } from '@model-gateway/contracts';
import type { SharedState } from '@model-gateway/distributed-state';
import { toGateLimits } from '@model-gateway/limits';
import type { Limiter } from './limiter.ts';

/** An answer has to fit into one message. */
const maxGates = 2000;

export async function limitsPart(limiter: Limiter, state: SharedState): Promise<TranslatorLimits> {
  const gates = limiter.gates().slice(0, maxGates);
  return { state: statePart(state), gates: await Promise.all(gates.map((gate) => gatePart(gate, state))) };
}

async function gatePart({ scope, held, waiting, limit }: ReturnType<Limiter['gates']>[number], state: SharedState): Promise<GatePart> {
  const limits = toGateLimits(limit);
  const look = limits && (await state.lookAtGate(scope, limits));
  return { scope, used: held, waiting, rpm_left: look?.rpmLeft ?? null, tpm_left: look?.tpmLeft ?? null };
}

function statePart(state: SharedState): StatePart {
  const { backend, degraded, degradedSince } = state.status();
  return { backend, degraded, degraded_since: degradedSince };
}
