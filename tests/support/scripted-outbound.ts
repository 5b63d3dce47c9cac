/** An upstream without a network: replays bytes, then ends or breaks, as a test says. */
import type { Outbound, OutboundCall, OutboundHandlers } from '@model-gateway/upstream-client';

export interface Script {
  status?: number;
  contentType?: string;
  headers?: Record<string, string>;
  chunks: readonly Uint8Array[];
  /** `end`: the body ends; `reset`: the connection breaks; `hang`: nothing more comes. */
  ending: 'end' | 'reset' | 'hang';
}

export interface ScriptedOutbound extends Outbound {
  script: Script;
  /** Of addresses for which there is another one. */
  scriptOf?: (url: string) => Script | undefined;
  /** Bodies that were sent. */
  sent: { method?: string; url: string; headers: Record<string, string>; body: string }[];
  aborted: number;
}

export function createScriptedOutbound(): ScriptedOutbound {
  const outbound = {
    script: { chunks: [], ending: 'end' } as Script,
    sent: [] as ScriptedOutbound['sent'],
    aborted: 0,
    scriptOf: undefined as ScriptedOutbound['scriptOf'],
    send(
      request: { method?: string; url: string; headers: Record<string, string>; body?: Uint8Array | readonly Uint8Array[] },
      handlers: OutboundHandlers,
    ): OutboundCall {
      const script = outbound.scriptOf?.(request.url) ?? outbound.script;
      outbound.sent.push({
        ...(request.method && { method: request.method }),
        url: request.url,
        headers: request.headers,
        body: Buffer.concat([request.body ?? []].flat()).toString('utf8'),
      });
      let over = false;
      queueMicrotask(() => {
        if (over) return;
        handlers.head(script.status ?? 200, { 'content-type': script.contentType ?? 'text/event-stream', ...script.headers });
        for (const chunk of script.chunks) if (!over) handlers.data(Buffer.from(chunk));
        if (over || script.ending === 'hang') return;
        over = true;
        if (script.ending === 'end') handlers.end();
        else handlers.error({ class: 'reset', phase: 'body', message: 'the connection broke' } as never);
      });
      return {
        pause: () => {},
        resume: () => {},
        abort: () => {
          if (over) return;
          over = true;
          outbound.aborted++;
          handlers.error({ class: 'aborted', phase: 'body', message: 'given up' } as never);
        },
      };
    },
    close: async () => {},
  };
  return outbound as unknown as ScriptedOutbound;
}
