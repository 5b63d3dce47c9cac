/** The conversation of the playground and the call under way. */
import type { PlaygroundDialect, PlaygroundImage, PlaygroundRequest, PlaygroundTurn } from '@model-gateway/protocols/playground';
import { useEffect, useRef, useState } from 'react';
import { revealKey } from '../../api/access-key-value.ts';
import { useKept } from '../../components/use-kept.ts';
import { addPieces, newTurn, type Turn } from './reply.ts';
import { type CallRecord, emptyRecord, runCall } from './run-call.ts';

/** One message to send from the playground. */
export interface Ask {
  dialect: PlaygroundDialect;
  /** Name of the access key to call with; null: as a test. */
  keyName: string | null;
  settings: Omit<PlaygroundRequest, 'turns'>;
  text: string;
  images: readonly PlaygroundImage[];
}

/** Turns without words (refused or stopped at once) are left out of what is sent: protocols want none. */
const sent = (turns: readonly Turn[]) =>
  turns.filter(({ text, images }) => text !== '' || images.length > 0).map(({ role, text, images }) => ({ role, text, images }));

/** `name`: under which the conversation outlives its session. */
export function usePlayground(name: string) {
  const [turns, setTurns] = useKept<readonly Turn[]>(name, []);
  const [record, setRecord] = useState<CallRecord | null>(null);
  const [busy, setBusy] = useState(false);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const changeLast = (change: (turn: Turn) => Turn) => setTurns((all) => [...all.slice(0, -1), change(all.at(-1)!)]);

  const ask = async ({ dialect, keyName, settings, text, images }: Ask) => {
    const before = [...turns, newTurn('user', text, images)];
    const stop = new AbortController();
    running.current = stop;
    setTurns([...before, newTurn('assistant')]);
    setRecord(emptyRecord);
    setBusy(true);
    try {
      await runCall({
        dialect,
        request: { ...settings, turns: sent(before) },
        key: keyName === null ? null : await revealKey(keyName),
        signal: stop.signal,
        onPieces: (pieces) => changeLast((turn) => addPieces(turn, pieces)),
        onRecord: (change) => setRecord((known) => ({ ...(known ?? emptyRecord), ...change })),
      });
      if (stop.signal.aborted) changeLast((turn) => ({ ...turn, stopped: true }));
    } catch (error) {
      changeLast((turn) => ({ ...turn, error: error instanceof Error ? error.message : String(error) }));
    } finally {
      setBusy(false);
    }
  };

  return {
    turns,
    record,
    busy,
    ask,
    /** A conversation that was held elsewhere. */
    begin: (earlier: readonly PlaygroundTurn[]) => setTurns(earlier.map(({ role, text, images }) => newTurn(role, text, images))),
    stop: () => running.current?.abort(),
    clear: () => {
      running.current?.abort();
      setTurns([]);
      setRecord(null);
    },
  };
}
