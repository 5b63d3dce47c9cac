/** Ends turns whose translator is gone: nobody else will. */
import type { TurnStatus } from '@model-gateway/contracts';
import type { StoredTurn } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import { isObject, openJson, outputOf, sealItems, sealResponse } from './content.ts';
import type { TurnStore } from './write-turns.ts';

/** A translator that works on turns reports every two seconds. */
export const defaultPace = { silentMs: 6_000, everyMs: 1_500 };

export interface TurnSweeper {
  /** A translator reported. */
  alive(holder: string): void;
  stop(): void;
}

export function startSweeper(store: TurnStore, logger: Logger, { silentMs, everyMs } = defaultPace): TurnSweeper {
  /** By holder, when it last reported. Wall clocks of other machines play no part. */
  const seen = new Map<string, number>();
  const started = performance.now();
  let stopped = false;
  let failing = false;
  let timer: NodeJS.Timeout | undefined;
  const isSilent = (turn: StoredTurn): boolean => {
    // A turn that was written a moment ago is somebody's; right after the start nobody can have reported yet.
    const quiet = performance.now() - Math.max(seen.get(turn.holder) ?? 0, started);
    return quiet >= silentMs && store.now() - turn.touchedAt >= silentMs;
  };
  const sweep = async (): Promise<void> => {
    try {
      const lost = (await store.turns.open()).filter((turn) => !turn.at && isSilent(turn));
      for (const turn of lost) if (!stopped) await end(turn, store);
      if (lost.length > 0) logger.warn({ turns: lost.length }, 'turns whose translator is gone were ended');
      failing = false;
    } catch (error) {
      if (!failing) logger.warn({ error }, 'open turns cannot be looked at');
      failing = true;
    }
    for (const [holder, at] of seen) if (performance.now() - at > 10 * silentMs) seen.delete(holder);
    if (!stopped) timer = setTimeout(() => void sweep(), everyMs).unref();
  };
  timer = setTimeout(() => void sweep(), everyMs).unref();
  return {
    alive: (holder) => void seen.set(holder, performance.now()),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** A run without a caller has failed; a reply to a caller is what was delivered of it, which an edge may still report. */
async function end(turn: StoredTurn, { keyring, queue }: TurnStore): Promise<void> {
  const { owner, id, conversation } = turn;
  const status: TurnStatus = turn.background ? 'failed' : 'incomplete';
  const known = turn.response === null ? undefined : openJson(turn.response, keyring, turn);
  const response = endedResponse(turn, isObject(known) ? known : {}, status);
  const input = turn.input === null ? [] : openJson(turn.input, keyring, turn);
  const append = conversation === null ? [] : sealItems([...(Array.isArray(input) ? input : []), ...outputOf(response)], keyring, { owner, id: conversation });
  await queue.write({ kind: 'finish', owner, id, status, authority: 0, response: sealResponse(response, keyring, turn), append });
}

function endedResponse({ id, model, createdAt }: StoredTurn, known: Record<string, unknown>, status: TurnStatus): Record<string, unknown> {
  const error = { code: 'server_error', message: 'The gateway lost the process that worked on this response.' };
  return {
    id,
    object: 'response',
    created_at: Math.floor(createdAt / 1000),
    model,
    output: [],
    ...known,
    status,
    error: status === 'failed' ? error : null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
  };
}
