/** The caller of an open connection, as long as it is open: its key, its group and their budgets may be edited meanwhile. */
import type { Snapshot } from '@model-gateway/contracts';
import { isGatewayError } from '@model-gateway/contracts/errors';
import type { EdgeContext } from '../context.ts';
import type { Principal } from './credentials.ts';

/** Who the caller is by the newest configuration. null: it would not be let in any more. */
export type PresentCaller = () => Principal | null;

/** `find` throws for a caller whom the configuration does not let in. */
export function presentCaller(opened: Principal, { catalog }: EdgeContext, find: (snapshot: Snapshot) => Principal): PresentCaller {
  return () => {
    const snapshot = catalog.current();
    if (!snapshot) return opened;
    try {
      return find(snapshot);
    } catch (error) {
      if (isGatewayError(error)) return null;
      throw error;
    }
  };
}
