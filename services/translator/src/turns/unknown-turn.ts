/** Requests over a WebSocket that go on from a turn that is not there. */
import { GatewayError } from '@model-gateway/contracts/errors';
import { BodySearch } from '../request/body-search.ts';
import type { CurrentRequest } from '../request/current.ts';

/**
 * Throws where a turn is still named that nothing has put into the body. Over HTTP the request is answered without it, which is a declared loss; clients of
 * a WebSocket read no headers, and send everything again when they are refused.
 */
export function refuseUnknownTurn({ request: { job, client }, body }: Pick<CurrentRequest, 'request' | 'body'>): void {
  if (!job.socket || !client.turns) return;
  const search = new BodySearch(body);
  if (!client.turns.references.some((word) => search.contains(word))) return;
  if (client.turns.readWishes(body.parse()).previous !== undefined) throw new GatewayError('previous_response_not_found', { param: 'previous_response_id' });
}
