/** The one retry of contract §7: an upstream that refuses the proofs in a request gets it once more without them, on the same node and key. */
import { refusesProofs } from '@model-gateway/protocols';
import type { Call } from '../call.ts';
import { type Prepared, prepare } from '../prepare.ts';
import type { Room } from '../room.ts';
import type { AttemptEnd } from './send.ts';

/** The request to send again, or null when this end was about something else, or when nothing about it would differ. */
export async function withoutProofs(call: Call, prepared: Prepared, end: AttemptEnd, room: Room): Promise<Prepared | null> {
  if (end.fault === null || end.committed || prepared.proofsRefused || !refusesProofs(end.fault)) return null;
  const stripped = await prepare(call, prepared.route, room, true);
  if (stripped.body.equals(prepared.body)) return null;
  const why = prepared.proofs.prefixChanged() ? ', and the system text or the tools have changed since they were issued' : '';
  call.lose([
    { field: 'signatures', action: 'dropped', detail: `The upstream refused the proofs of earlier thinking${why}: it was asked again without them.` },
  ]);
  call.meter.reset();
  return stripped;
}
