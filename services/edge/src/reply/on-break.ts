/** How a stream that breaks after its first bytes is ended for its caller: in the protocol's own words, or by breaking off the connection. */

import { retriesBrokenStreams } from '@model-gateway/client-setup/retrying-clients';
import type { BrokenEnding, Snapshot } from '@model-gateway/contracts';
import type { Principal } from '../admission/credentials.ts';

/** What decides how a broken stream ends for its caller. */
export interface BreakContext {
  principal: Principal | null;
  snapshot: Snapshot | null;
  /** Canonical name of what was asked for. */
  model: string | null;
  /** That served the request; null where nobody said. */
  upstream: string | null;
  userAgent: string | undefined;
}

/** The key group's setting wins, then the upstream's, then `finish`; `auto` asks which client it is. */
export function endingOf({ principal, snapshot, model, upstream, userAgent }: BreakContext): BrokenEnding {
  const serving = upstream ?? (model === null ? undefined : snapshot?.models.get(model)?.upstream);
  const setting = principal?.group.on_break ?? (serving === undefined ? undefined : snapshot?.upstreams.get(serving)?.on_break) ?? 'finish';
  if (setting !== 'auto') return setting;
  return retriesBrokenStreams(userAgent ?? '') ? 'break' : 'finish';
}
