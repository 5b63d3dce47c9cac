/** Ends turns whose translator is gone: nobody else will. */
import { isObject, outputOf, type TurnStatus } from '@model-gateway/contracts';
import type { StoredTurn } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import { openJson, sealItems, sealResponse } from './content.ts';
import type { TurnStore } from './write-turns.ts';

/** A translator that works on turns reports every two seconds. */
export const defaultPace = { silentMs: 6_000, everyMs: 1_500 };

export interface TurnSweeper {
  /** A translator reported. */
  alive(holder: string): void;
  stop(): void;
}

/** What the sweeper works with. */
export interface SweeperOptions {
  store: TurnStore;
  logger: Logger;
  /** Whether reports can arrive at all. */
  listening: () => boolean;
  pace?: typeof defaultPace;
}

/** Goes by the time for which this process itself has known a turn and its holder: clocks of other machines play no part. */
export function startSweeper({ store, logger, listening, pace: { silentMs, everyMs } = defaultPace }: SweeperOptions): TurnSweeper {
  /** By holder, when it last reported. */
  const seen = new Map<string, number>();
  /** By turn, when it was first seen in progress. */
  let known = new Map<string, number>();
  /** Since when every report has arrived here. */
  let since = performance.now();
  let looked = since;
  let stopped = false;
  let failing = false;
  let timer: NodeJS.Timeout | undefined;
  /** The turns in progress that nobody works on. */
  const findLost = (turns: readonly StoredTurn[]): StoredTurn[] => {
    const now = performance.now();
    // While the bus was away, or this process stood still, holders reported without being received.
    if (!listening() || now - looked > everyMs + silentMs / 2) since = now;
    looked = now;
    known = new Map(turns.map(({ owner, id }) => [`${owner} ${id}`, known.get(`${owner} ${id}`) ?? now]));
    return turns.filter(({ owner, id, holder }) => now - Math.max(known.get(`${owner} ${id}`) ?? now, seen.get(holder) ?? 0, since) >= silentMs);
  };
  const sweep = async (): Promise<void> => {
    try {
      const lost = findLost(await store.turns.open());
      for (const { owner, id } of lost) {
        const turn = stopped ? undefined : await store.turns.find(owner, id);
        if (turn) await end(turn, store);
      }
      if (lost.length > 0) logger.warn({ turns: lost.length }, 'turns whose translator is gone were ended');
      failing = false;
    } catch (error) {
      if (!failing) logger.warn({ error }, 'open turns cannot be read');
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
