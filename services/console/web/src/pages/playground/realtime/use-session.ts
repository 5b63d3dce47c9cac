/** The session of the playground: at most one, which ends with its page. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { revealKey } from '../../../api/access-key-value.ts';
import { type Frame, type OpenSession, openSession, type SessionEvents } from './session.ts';
import { type Recording, record, Speaker } from './sound.ts';

/** What is shown of a session. */
export interface Shown {
  state: 'closed' | 'opening' | 'open';
  frames: readonly Frame[];
  /** What the model said. */
  text: string;
  playedSeconds: number;
  /** How the last one ended; null: none has. */
  end: { code: number | null; reason: string } | null;
  fault: Error | null;
}

/** Older ones are left out. */
const maxFrames = 300;
const nothing: Shown = { state: 'closed', frames: [], text: '', playedSeconds: 0, end: null, fault: null };

export function useRealtimeSession() {
  const [shown, setShown] = useState(nothing);
  const [recording, setRecording] = useState(false);
  const open = useRef<OpenSession | null>(null);
  /** Of the session that is open, or is being opened. */
  const wanted = useRef(new AbortController());
  const microphone = useRef<Recording | null>(null);
  const speaker = useRef(new Speaker());
  const change = useCallback((more: Partial<Shown>) => setShown((known) => ({ ...known, ...more })), []);

  const silence = useCallback(() => {
    microphone.current?.stop();
    microphone.current = null;
    setRecording(false);
  }, []);
  const leave = useCallback(() => {
    silence();
    open.current?.close();
    open.current = null;
    speaker.current.close();
  }, [silence]);
  const abandon = useCallback(() => {
    wanted.current.abort();
    leave();
  }, [leave]);
  useEffect(() => abandon, [abandon]);

  const begin = async (model: string, keyName: string) => {
    abandon();
    wanted.current = new AbortController();
    const { signal } = wanted.current;
    setShown({ ...nothing, state: 'opening' });
    speaker.current = new Speaker();
    try {
      const accessKey = await revealKey(keyName);
      signal.throwIfAborted();
      const events: SessionEvents = {
        onFrame: (frame) => setShown((known) => ({ ...known, frames: [...known.frames, frame].slice(-maxFrames) })),
        onSound(base64) {
          speaker.current.play(base64);
          change({ playedSeconds: speaker.current.seconds });
        },
        onText: (text) => setShown((known) => ({ ...known, text: known.text + text })),
        onEnd(code, reason) {
          silence();
          open.current = null;
          change({ state: 'closed', end: { code, reason } });
        },
      };
      const session = await openSession(model, accessKey, events, signal);
      signal.throwIfAborted();
      open.current = session;
      if (session) change({ state: 'open' });
    } catch (error) {
      if (!signal.aborted) change({ state: 'closed', fault: asError(error) });
    }
  };

  const startRecording = async (rate: number) => {
    const session = open.current;
    try {
      const started = await record(rate, (audio) => session?.send({ type: 'input_audio_buffer.append', audio }));
      // While the browser asked for the microphone the session may have ended, or a second click may have been answered.
      if (open.current === null || open.current !== session || microphone.current) return started.stop();
      microphone.current = started;
      setRecording(true);
    } catch (error) {
      change({ fault: asError(error) });
    }
  };
  const stopRecording = () => {
    silence();
    open.current?.send({ type: 'input_audio_buffer.commit' });
    open.current?.send({ type: 'response.create' });
  };
  const say = (text: string) => {
    open.current?.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] } });
    open.current?.send({ type: 'response.create' });
  };
  return { shown, recording, begin, leave, startRecording, stopRecording, say };
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
