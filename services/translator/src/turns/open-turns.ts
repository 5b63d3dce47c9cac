/** Where a request meets the store of turns: once before its attempts, once at its end. */
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { RequestBody } from '../request/body.ts';
import type { RequestContext } from '../request/context.ts';
import type { CurrentRequest } from '../request/current.ts';
import type { RequestRecord } from '../request/record.ts';
import { readWishes } from './asked.ts';
import type { TurnDeps } from './deps.ts';
import { notStored } from './losses.ts';
import { openAtUpstream } from './open-at-upstream.ts';
import { openTurn } from './open-turn.ts';

/** The body with what it names in the store, where turns are kept and the request asks for anything. Throws what the caller is answered instead. */
export function openTurns(current: CurrentRequest, deps: TurnDeps): RequestBody | Promise<RequestBody> {
  if (!deps.keptBy || !current.request.client.turns) return current.body;
  if (deps.keptBy === 'upstream') return openAtUpstream(current, deps);
  const wishes = readWishes(current.request, current.body);
  if (!wishes) return current.body;
  const { request, record } = current;
  return openTurn(current, wishes, deps).then(({ body, losses, turn, registration, unstored }) => {
    record.loseAlways(losses);
    if (unstored) record.loseAtEnd(unstored);
    if (registration) request.registration = registration;
    if (!turn) return body;
    request.turn = turn;
    return body.state === 'upstream' ? body : body.heldBy('gateway');
  });
}

/** The reply is complete: resolves when its turn is stored, or cannot be. */
export async function completeTurn({ turn, registration }: Pick<RequestContext, 'turn' | 'registration'>, record: RequestRecord): Promise<void> {
  if (turn) recordTurn(turn.id, await turn.complete(), record);
  if (!registration) return;
  const noted = await registration.written();
  if (noted && registration.id !== undefined) record.setTurn(registration.id);
  if (!noted) record.loseAtEnd(notStored);
}

/** The reply broke off: what its caller has of it is stored. */
export async function breakOffTurn({ turn }: Pick<RequestContext, 'turn'>, record: RequestRecord, error: GatewayError): Promise<void> {
  if (!turn) return;
  const { tokens, source } = record.settle(false);
  recordTurn(turn.id, await turn.breakOff('incomplete', error, source === null ? undefined : tokens), record);
}

/** `null`: there is no turn, since the request failed before anything of it was answered. */
function recordTurn(id: string, stored: boolean | null, record: RequestRecord): void {
  if (stored) record.setTurn(id);
  else if (stored === false) record.loseAtEnd(notStored);
}
