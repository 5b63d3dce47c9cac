/** Drives codecs as the translator does, without any I/O. */
import { createSseParser } from '@model-gateway/framing';
import {
  type ChatEvent,
  type ClientDoor,
  type CloserContext,
  clientProtocols,
  Fold,
  foldEvents,
  type Message,
  type Protocol,
  type ReplyContext,
  type Target,
  type UpstreamDoor,
  upstreamProtocols,
  type WriteRequestContext,
} from '../../src/index.ts';
import { validateStream as validateAlpha } from '../validate/alpha.ts';
import { validateStream as validateAlphaResponse } from '../validate/alpha-response.ts';
import { validateStream as validateBeta } from '../validate/beta.ts';
import { validateStream as validateGamma } from '../validate/gamma.ts';

export type Speaker = Protocol & { client: ClientDoor; upstream: UpstreamDoor };

/** Protocols with both doors: their writer plays the upstream of the laws. */
export const speakers = clientProtocols.filter((protocol): protocol is Speaker => upstreamProtocols.includes(protocol as never));

const validators: Record<string, (text: string) => string[]> = {
  alpha: validateAlpha,
  alpha_response: validateAlphaResponse,
  beta: validateBeta,
  gamma: (text) => validateGamma(text, 'sse'),
};
export const validate = (protocol: Speaker, text: string): string[] => validators[protocol.id]!(text);

function minter(): (prefix: string) => string {
  let next = 0;
  return (prefix) => `${prefix}minted${String(++next).padStart(4, '0')}`;
}

export const replyContext = (echo?: unknown): ReplyContext => ({
  requestId: 'req-1',
  model: 'client-model',
  createdAt: 1_700_000_000,
  streamForm: 'sse',
  mintId: minter(),
  sealSignature: (signature) => signature,
  echo,
  inputEstimate: 10,
});

export const closerContext = (): CloserContext => ({
  requestId: 'req-1',
  model: 'client-model',
  createdAt: 1_700_000_000,
  streamForm: 'sse',
  mintId: minter(),
});

export const target: Target = { baseUrl: 'https://upstream.test', directPath: false, upstreamModelId: 'real-model', neutralHeaders: false, extraConfig: null };
export const writeContext = (stream: boolean): WriteRequestContext => ({
  target,
  operation: 'generate',
  stream,
  openSignature: (sealed) => sealed,
  mintId: minter(),
});

/** What the client's own reader put aside of a plain request: writers need it as the translator would give it. */
export function echoOf(client: Speaker): unknown {
  const { body } = client.upstream.writeRequest(
    { system: [], turns: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }], tools: [], sampling: { maxTokens: 64 }, stream: true },
    writeContext(true),
  );
  return client.client.readRequest(body, { path: '', operation: 'generate', model: 'client-model', streamForm: 'sse', headers: {} }).echo;
}

/** One text per event written, joined they are the stream. */
export function writePieces(client: Speaker, events: readonly ChatEvent[]): string[] {
  const writer = client.client.createWriter(replyContext(echoOf(client)));
  return events.map((event) => writer.write(event)).filter((piece) => piece !== '');
}

/** Bytes of a stream → events, cut into the given chunks. */
export function readStream(upstream: Speaker, chunks: readonly Uint8Array[]): ChatEvent[] {
  const parser = createSseParser({ maxEventBytes: 1 << 20 });
  const reader = upstream.upstream.createReader(target);
  const events: ChatEvent[] = [];
  const take = (records: ReturnType<typeof parser.push>): void => {
    for (const { event, data } of records) {
      let json: unknown;
      try {
        json = JSON.parse(data);
      } catch {
        json = undefined;
      }
      events.push(...reader.read({ event, data, json }));
    }
  };
  for (const chunk of chunks) take(parser.push(chunk));
  take(parser.finish());
  events.push(...reader.finish());
  return events;
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What a reply means, whatever its wire: joined text per kind of block, calls with parsed arguments, reason. */
export interface Meaning {
  text: string;
  thinking: string;
  calls: { name: string; arguments: unknown }[];
  finish: string;
}

export function meaningOf(message: Message): Meaning {
  const join = (kinds: string[]): string =>
    message.blocks
      .filter((block) => kinds.includes(block.start.type))
      .map((block) => block.text)
      .join('');
  return {
    text: join(['text', 'refusal']),
    thinking: join(['thinking']),
    calls: message.blocks.flatMap((block) =>
      block.start.type === 'tool-call' ? [{ name: block.start.name, arguments: JSON.parse(block.text === '' ? '{}' : block.text) as unknown }] : [],
    ),
    finish: message.finish.reason,
  };
}

export const foldAll = (events: readonly ChatEvent[]): Message => foldEvents(events.filter((event) => event.type !== 'error'));
export { Fold };
