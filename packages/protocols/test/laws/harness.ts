/** Drives codecs as the translator does, without any I/O. */
import { createEventStreamParser, createSseParser } from '@model-gateway/stream-framing';
import {
  type ChatEvent,
  type ClientAdapter,
  type Conversation,
  chatClients,
  chatUpstreams,
  Fold,
  type FramedRecord,
  foldEvents,
  type Message,
  type Protocol,
  type ReplyContext,
  type Target,
  type TerminatorContext,
  type UpstreamAdapter,
  type WriteRequestContext,
} from '../../src/index.ts';
import { ideStreamingPlayer } from '../play/cloudhost-ide-streaming.ts';
import { conversePlayer } from '../play/converse.ts';
import { cumulativeDeltaPlayer, deltaPlayer } from '../play/delta.ts';
import { messagesPlayer, novaPlayer } from '../play/invoke.ts';
import type { UpstreamPlayer } from '../play/player.ts';
import { validateStream as validateAlpha } from '../validate/alpha.ts';
import { validateStream as validateAlphaResponse } from '../validate/alpha-response.ts';
import { validateStream as validateBeta } from '../validate/beta.ts';
import { validateStream as validateGamma } from '../validate/gamma.ts';

export type Speaker = Protocol & { client: ClientAdapter; upstream: UpstreamAdapter };

/** Protocols with both adapters: their response writer plays the upstream of the laws. */
export const speakers = chatClients.filter((protocol): protocol is Speaker => chatUpstreams.includes(protocol as never));

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
  now: () => 1_700_000_002,
  streamForm: 'sse',
  mintId: minter(),
  sealSignature: (signature) => signature,
  echo,
  inputEstimate: 10,
});

export const terminatorContext = (): TerminatorContext => ({
  requestId: 'req-1',
  model: 'client-model',
  createdAt: 1_700_000_000,
  streamForm: 'sse',
  mintId: minter(),
});

const plainTarget: Target = { baseUrl: 'https://upstream.test', directPath: false, upstreamModelId: 'real-model', neutralHeaders: false, extraConfig: null };
export const target = plainTarget;
export const writeContext = (stream: boolean, to: Target = target): WriteRequestContext => ({
  target: to,
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

/** One upstream of the laws: its adapter, and what plays it. */
export interface Upstream extends UpstreamPlayer {
  id: string;
  upstream: UpstreamAdapter;
  target: Target;
}

const playedByOwnDoor = (speaker: Speaker): Upstream => ({
  id: speaker.id,
  upstream: speaker.upstream,
  target,
  stream: (events) => writePieces(speaker, events),
  whole: (message) => speaker.client.writeWhole(message, replyContext(echoOf(speaker))).body,
  readRequest: (body) => readBack(speaker, body),
});

const doorOf = (id: string): UpstreamAdapter => chatUpstreams.find((protocol) => protocol.id === id)!.upstream;

export const upstreams: readonly Upstream[] = [
  ...speakers.map(playedByOwnDoor),
  ...['claude-opus-4-1', 'claude-sonnet-4-5'].map((model) => ({
    id: `cloudhost_converse, ${model}`,
    upstream: doorOf('cloudhost_converse'),
    target: { ...target, upstreamModelId: `us.anthropic.${model}-v1:0` },
    ...conversePlayer,
  })),
  { id: 'cloudhost_invoke', upstream: doorOf('cloudhost_invoke'), target, ...messagesPlayer(playedByOwnDoor(speakers.find(({ id }) => id === 'beta')!)) },
  {
    id: 'cloudhost_invoke, nova',
    upstream: doorOf('cloudhost_invoke'),
    target: { ...target, upstreamModelId: 'us.amazon.nova-2-lite-v1:0' },
    ...novaPlayer,
  },
  { id: 'delta', upstream: doorOf('delta'), target, ...deltaPlayer },
  { id: 'delta, multimodal', upstream: doorOf('delta'), target: { ...target, kind: 'delta-multimodal' }, ...deltaPlayer },
  { id: 'delta, cumulative', upstream: doorOf('delta'), target, ...cumulativeDeltaPlayer },
  { id: 'cloudhost_ide_streaming', upstream: doorOf('cloudhost_ide_streaming'), target, ...ideStreamingPlayer },
];

/** A body of this protocol, as a caller would have sent it. */
export function readBack(speaker: Speaker, body: unknown): Conversation {
  const wire = JSON.parse(JSON.stringify(body)) as unknown;
  return speaker.client.readRequest(wire, { path: '', operation: 'generate', model: 'client-model', streamForm: 'sse', headers: {} }).conversation;
}

/** The bytes that this upstream sends for these events. */
export const play = (upstream: Upstream, events: readonly ChatEvent[]): Uint8Array =>
  Buffer.concat(upstream.stream(events).map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'utf8') : piece)));

/** Bytes of a stream → events, cut into the given chunks. */
export function readStream({ upstream, target }: { upstream: UpstreamAdapter; target?: Target }, chunks: readonly Uint8Array[]): ChatEvent[] {
  const maxBytes = 1 << 20;
  const parser = upstream.framing === 'event-stream' ? createEventStreamParser({ maxMessageBytes: maxBytes }) : createSseParser({ maxEventBytes: maxBytes });
  const reader = upstream.createReader(target ?? plainTarget);
  const events: ChatEvent[] = [];
  const take = (records: readonly FramedRecord[]): void => {
    for (const outer of records) {
      const record = upstream.unwrapRecord?.(outer) ?? outer;
      let json: unknown;
      try {
        json = JSON.parse(record.data);
      } catch {
        json = undefined;
      }
      events.push(...reader.read({ ...record, json }));
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
