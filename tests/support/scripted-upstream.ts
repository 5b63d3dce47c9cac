/** An upstream without a network that answers by what it is asked, for suites of one request at a time. */
import { createScriptedOutbound, type Script, type ScriptedOutbound } from './scripted-outbound.ts';

export type Asked = { url: string; headers: Record<string, string>; body: string };
export interface AnsweringOutbound extends ScriptedOutbound {
  /** Decides the reply to each call; called once per call, before it is answered. */
  answer: (asked: Asked) => Script;
}

export const jsonScript = (status: number, body: unknown): Script => ({
  status,
  contentType: 'application/json',
  chunks: [Buffer.from(JSON.stringify(body))],
  ending: 'end',
});

export const streamScript = (text: string): Script => ({ chunks: [Buffer.from(text)], ending: 'end' });

export function createAnsweringOutbound(): AnsweringOutbound {
  const outbound = createScriptedOutbound() as AnsweringOutbound;
  outbound.answer = () => jsonScript(500, { error: { message: 'nothing is scripted' } });
  // The scripted outbound notes a call after it has read its script.
  const send = outbound.send.bind(outbound);
  outbound.send = (request, handlers) => {
    outbound.script = outbound.answer({
      url: String(request.url),
      headers: request.headers,
      body: Buffer.concat([request.body ?? []].flat() as Uint8Array[]).toString('utf8'),
    });
    return send(request, handlers);
  };
  return outbound;
}
