/**
 * Requests while the gateway stores no turns: an upstream of the caller's protocol gets what they ask as it is, and whose response it keeps is noted.
 * Anywhere else nothing is stored, and what is named is missing, which is a declared loss.
 */
import type { RequestBody } from '../request/body.ts';
import type { CurrentRequest } from '../request/current.ts';
import { askedOf } from './asked.ts';
import type { TurnDeps } from './deps.ts';
import { expandRequest } from './expand-request.ts';
import { registerOwner } from './register-owner.ts';

/** Throws what the caller is answered instead. */
export function openAtUpstream(current: CurrentRequest, deps: TurnDeps): RequestBody | Promise<RequestBody> {
  const { request, body } = current;
  const asked = askedOf(request, body);
  if (!asked) return body;
  const register = (parent: string | null): void => {
    if (asked.stores) Object.assign(request, registerOwner(current, { parent, background: body.topLevel('background') === true }, deps));
  };
  const wishes = asked.names ? asked.turns.readWishes(body.parse()) : undefined;
  // Conversations are refused where they are read: without a store there are none.
  if (!wishes || wishes.conversation !== undefined) {
    register(null);
    return body;
  }
  return expandRequest(current, wishes, deps).then(({ body: expanded, losses, kept }) => {
    current.record.loseAlways(losses);
    register(kept?.turn ?? null);
    return expanded;
  });
}
