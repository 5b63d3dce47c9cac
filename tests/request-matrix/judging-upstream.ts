/** An upstream that only judges: it keeps what it is sent, and answers every request with the same refusal of its own, so that no reply is needed. */
import type { Outbound, OutboundHandlers } from '@model-gateway/upstream-client';

export interface Reached {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The name by which a request is known again: its host is the target's own. */
export interface JudgingUpstream extends Outbound {
  /** What reached the host of this name since the last time it was asked. */
  take(host: string): Reached[];
}

/** No vendor's words: nothing is tried again after it. */
const refusal = Buffer.from(JSON.stringify({ error: { message: 'judged', type: 'judged' }, message: 'judged' }));

export function createJudgingUpstream(): JudgingUpstream {
  const reached = new Map<string, Reached[]>();
  const upstream = {
    send(request: { url: string; headers: Record<string, string>; body?: Uint8Array }, handlers: OutboundHandlers) {
      const { hostname } = new URL(request.url);
      const list = reached.get(hostname) ?? [];
      list.push({ url: request.url, headers: request.headers, body: Buffer.from(request.body ?? []).toString('utf8') });
      reached.set(hostname, list);
      queueMicrotask(() => {
        handlers.head(418, { 'content-type': 'application/json' });
        handlers.data(refusal);
        handlers.end();
      });
      return { pause: () => {}, resume: () => {}, abort: () => {} };
    },
    close: async () => {},
    take(host: string): Reached[] {
      const list = reached.get(host) ?? [];
      reached.delete(host);
      return list;
    },
  };
  return upstream as unknown as JudgingUpstream;
}
