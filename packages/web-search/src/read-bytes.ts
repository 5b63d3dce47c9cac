/** One bounded call: its status, headers and body, or why there is none. */
import { Pieces } from '@model-gateway/stream-framing';
import type { Outbound } from '@model-gateway/upstream-client';

/** What is asked, and within which bounds. */
export interface Asked {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: Buffer;
  maxBytes: number;
  timeoutMs: number;
  signal: AbortSignal;
}

/** The other side's answer; `body` is absent where the status says all. */
export interface Answered {
  status: number;
  headers: Record<string, string>;
  body?: Buffer;
}

/** `too-large`: it had more bytes than are taken; `failed`: it could not be reached, was refused as an address, or took too long. */
export type Failed = 'too-large' | 'failed';

export function readBytes(outbound: Outbound, { method, url, headers, body, maxBytes, timeoutMs, signal }: Asked): Promise<Answered | Failed> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve('failed');
    const pieces = new Pieces();
    let size = 0;
    let answered: Answered | undefined;
    let tooLarge = false;
    const call = outbound.send(
      {
        method,
        url,
        headers: { ...headers, 'accept-encoding': 'identity' },
        body,
        egress: undefined,
        timeouts: { connect_ms: timeoutMs, first_byte_ms: timeoutMs, idle_ms: timeoutMs, total_ms: timeoutMs },
      },
      {
        head(status, replyHeaders) {
          answered = { status, headers: replyHeaders };
          tooLarge = Number(replyHeaders['content-length']) > maxBytes;
          // What a refusal or a redirect says beside its status is not read.
          if (status < 200 || status > 299 || tooLarge) stop();
        },
        data(chunk) {
          size += chunk.length;
          tooLarge ||= size > maxBytes;
          if (tooLarge) stop();
          else pieces.add(chunk);
        },
        end: () => finish(answered ? { ...answered, body: pieces.take() } : 'failed'),
        error: () => finish('failed'),
      },
    );
    const stop = (): void => {
      call.abort('not wanted');
      finish('failed');
    };
    const finish = (how: Answered | Failed): void => {
      signal.removeEventListener('abort', stop);
      const isRefusal = answered && (answered.status < 200 || answered.status > 299);
      resolve(isRefusal && answered ? answered : tooLarge ? 'too-large' : how);
    };
    signal.addEventListener('abort', stop);
  });
}
