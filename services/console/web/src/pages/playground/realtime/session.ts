/** A realtime session as a browser holds it: a short-lived key stands for the access key, and each frame is kept to be looked at. */
import { readProblem } from '../../../api/problem.ts';

/** A frame of either side. */
export interface Frame {
  readonly number: number;
  readonly from: 'client' | 'server';
  /** Milliseconds since the session was asked for. */
  readonly at: number;
  readonly type: string;
  readonly bytes: number;
  readonly event: Record<string, unknown>;
}

/** What the session reports. */
export interface SessionEvents {
  onFrame(frame: Frame): void;
  onSound(base64: string): void;
  onText(text: string): void;
  /** `code` null: the handshake was refused. */
  onEnd(code: number | null, reason: string): void;
}

/** An open session. */
export interface OpenSession {
  send(event: Record<string, unknown>): void;
  close(): void;
}

const keySeconds = 60;
/** Names since the beta, and of it. */
const soundEvents: ReadonlySet<string> = new Set(['response.output_audio.delta', 'response.audio.delta']);
const textEvents: ReadonlySet<string> = new Set([
  'response.output_text.delta',
  'response.text.delta',
  'response.output_audio_transcript.delta',
  'response.audio_transcript.delta',
]);

/** Throws `ApiProblem` where the access key may not. */
async function mintKey(accessKey: string, signal: AbortSignal): Promise<string> {
  const response = await fetch('/v1/realtime/client_secrets', {
    method: 'POST',
    headers: { authorization: `Bearer ${accessKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ expires_after: { anchor: 'created_at', seconds: keySeconds } }),
    redirect: 'error',
    signal,
  });
  if (!response.ok) throw await readProblem(response);
  return ((await response.json()) as { value: string }).value;
}

/**
 * Resolves when the session is open, or with null when its handshake was refused, which `onEnd` tells. `signal` ends it, open or not yet, and nothing is
 * reported from then on.
 */
export async function openSession(model: string, accessKey: string, events: SessionEvents, signal: AbortSignal): Promise<OpenSession | null> {
  const began = performance.now();
  const key = await mintKey(accessKey, signal);
  signal.throwIfAborted();
  const address = `${location.origin.replace(/^http/, 'ws')}/v1/realtime?model=${encodeURIComponent(model)}`;
  const socket = new WebSocket(address, ['realtime', `openai-insecure-api-key.${key}`]);
  let number = 0;
  const note = (from: Frame['from'], text: string): Record<string, unknown> => {
    const event = parse(text);
    const type = typeof event['type'] === 'string' ? event['type'] : '?';
    events.onFrame({ number: ++number, from, at: performance.now() - began, type, bytes: text.length, event });
    return event;
  };
  socket.onmessage = ({ data }) => {
    const event = note('server', String(data));
    const { type, delta } = event;
    if (typeof type !== 'string' || typeof delta !== 'string') return;
    if (soundEvents.has(type)) events.onSound(delta);
    else if (textEvents.has(type)) events.onText(delta);
  };
  return new Promise((resolve) => {
    let opened = false;
    socket.onopen = () => {
      opened = true;
      resolve({
        send(event) {
          const text = JSON.stringify(event);
          note('client', text);
          socket.send(text);
        },
        close: () => socket.close(1000),
      });
    };
    socket.onclose = ({ code, reason }) => {
      events.onEnd(opened ? code : null, reason);
      resolve(null);
    };
    signal.addEventListener('abort', () => {
      socket.onmessage = null;
      socket.onclose = null;
      socket.close(1000);
      resolve(null);
    });
  });
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
