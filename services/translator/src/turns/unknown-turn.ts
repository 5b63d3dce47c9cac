/** Requests over a WebSocket that go on from a turn that is not there. */
import { GatewayError } from '@model-gateway/contracts/errors';
import type { CurrentRequest } from '../request/current.ts';
import { namesStored } from './asked.ts';

/**
 * Throws where a turn is still named that nothing has put into the body, and that the upstream does not keep either. Over HTTP the request is answered
 * without it, which is a declared loss; clients of a WebSocket read no headers, and send everything again when they are refused.
 */
export function refuseUnknownTurn({ request: { job, client }, body }: Pick<CurrentRequest, 'request' | 'body'>): void {
  if (!job.socket || !client.turns || body.state === 'upstream') return;
  if (!namesStored(client.turns, body)) return;
  if (client.turns.readWishes(body.parse()).previous !== undefined) throw new GatewayError('previous_response_not_found', { param: 'previous_response_id' });
}
