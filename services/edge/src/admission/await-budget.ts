/** Money for a request on its way in, and what may end its wait for it: its caller leaves, or the process does. */
import { GatewayError } from '@model-gateway/contracts/errors';
import type { ClientExchange } from '../client-exchange.ts';
import type { EdgeContext } from '../context.ts';
import type { OpenReply } from '../open-connections.ts';
import type { RequestLogEntry } from '../request-log-entry.ts';
import type { Principal } from './credentials.ts';
import type { Asked } from './reservation.ts';

/** Reserves what the request may cost. Rejects with 402, `client_gone`, or what a drain ends it with. */
export async function awaitBudget(
  { exchange, entry }: { exchange: ClientExchange; entry: RequestLogEntry },
  principal: Principal,
  asked: Asked,
  { admission, connections }: Pick<EdgeContext, 'admission' | 'connections'>,
): Promise<void> {
  let ended: GatewayError | undefined;
  let stop = (): void => undefined;
  const waiting: OpenReply = {
    index: -1,
    interrupt(error) {
      ended = error;
      stop();
    },
  };
  try {
    // Called only where it has to wait for others to settle.
    const reservation = await admission.budgets.reserve(principal, asked, (leave) => {
      stop = leave;
      exchange.watch({ closed: leave });
      connections.replies.add(waiting);
    });
    entry.settleLater(reservation);
  } catch (error) {
    throw ended ?? error;
  } finally {
    connections.replies.remove(waiting);
  }
  if (ended) throw ended;
  // A request whose caller leaves while it waits blocks nobody.
  if (exchange.left) throw new GatewayError('client_gone');
}
