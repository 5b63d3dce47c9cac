/** A call to an upstream whose answer is wanted whole, beside the attempts of a request: nothing of it passes to a caller on the way. */
import { Pieces } from '@model-gateway/stream-framing';
import type { Outbound, OutboundFault, OutboundRequest } from '@model-gateway/upstream-client';

export interface WholeAnswer {
  /** 0: nothing came. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty where there was more than `maxBytes`. */
  readonly body: Buffer;
  /** null: it came to its end. */
  readonly fault: OutboundFault | null;
}

/** How much of an answer is held, and what ends the call. */
export interface WholeAnswerOptions {
  maxBytes: number;
  signal?: AbortSignal;
}

/** Never rejects. */
export function askWhole(outbound: Outbound, request: OutboundRequest, { maxBytes, signal }: WholeAnswerOptions): Promise<WholeAnswer> {
  return new Promise((resolve) => {
    const pieces = new Pieces();
    let [size, status, headers]: [number, number, Record<string, string>] = [0, 0, {}];
    const finish = (fault: OutboundFault | null): void => {
      signal?.removeEventListener('abort', stop);
      resolve({ status, headers, body: size <= maxBytes ? pieces.take() : Buffer.alloc(0), fault });
    };
    const call = outbound.send(request, {
      head(given, replyHeaders) {
        [status, headers] = [given, replyHeaders];
      },
      data(chunk) {
        size += chunk.length;
        if (size <= maxBytes) pieces.add(chunk);
      },
      end: () => finish(null),
      error: finish,
    });
    const stop = (): void => call.abort('caller left');
    signal?.addEventListener('abort', stop);
  });
}
