/** One exchange of a pair of protocols, as the translator makes it, without any I/O: verbatim where both speak the same, else read and written anew. */
import type { Loss, Operation } from '@model-gateway/contracts';
import { applyEdits } from '@model-gateway/json-bytes';
import {
  bridgeTools,
  type ChatEvent,
  fitToModel,
  foldEvents,
  type Message,
  OutputUnwrapper,
  plainToolRules,
  type ReplyContext,
  type ReplyEmulation,
  repairCalls,
  type Target,
  type ToolBridge,
  type VerbatimRules,
  type WriteRequestContext,
} from '../../src/index.ts';
import { play, readStream, replyContext, type Speaker, type Upstream, writeContext } from '../laws/harness.ts';

export interface Pair {
  client: Speaker;
  upstream: Upstream;
}

/** A request on its way. */
export interface Asked {
  /** JSON text that the upstream gets. */
  text: string;
  /** JSON text that the caller sent. */
  sent: string;
  losses: readonly Loss[];
  rules: VerbatimRules | null;
  emulation?: ReplyEmulation | undefined;
  bridge?: ToolBridge | undefined;
  echo?: unknown;
  /** The gateway set cache marks that the caller could not set. */
  marked: boolean;
}

/** `client`'s body as `upstream` gets it. */
export function ask({ client, upstream: { upstream, target } }: Pair, sent: object, operation: Operation = 'generate'): Asked {
  const context: WriteRequestContext = { ...writeContext(true, target), operation };
  const rules = passes(client, upstream, target, operation) ? (upstream.verbatim ?? null) : null;
  const text = JSON.stringify(sent);
  if (rules) {
    const { edits, losses } = rules.requestEdits({ ...context, clientHeaders: {}, contains: (part) => text.includes(part), parse: () => JSON.parse(text) });
    return { text: applyEdits(text, edits), sent: text, losses, rules, marked: false };
  }
  const read = client.client.readRequest(JSON.parse(text), { path: '', operation, model: 'm', streamForm: 'sse', headers: {} });
  const fitted = fitToModel(read.conversation, target, upstream);
  const repaired = repairCalls(fitted?.conversation ?? read.conversation);
  const asked = repaired?.conversation ?? fitted?.conversation ?? read.conversation;
  const bridged = bridgeTools(asked, upstream.toolRules?.(target) ?? plainToolRules);
  const written = upstream.writeRequest(bridged?.conversation ?? asked, context);
  const before = JSON.stringify(written.body);
  if (!client.client.marksCache && operation === 'generate') upstream.injectCache?.(written.body, context);
  const after = JSON.stringify(written.body);
  return {
    text: after,
    sent: text,
    losses: [...read.losses, ...(fitted?.losses ?? []), ...(repaired?.losses ?? []), ...(bridged?.losses ?? []), ...written.losses],
    rules: null,
    emulation: written.emulation,
    bridge: bridged?.bridge,
    echo: read.echo,
    marked: before !== after,
  };
}

const passes = (client: Speaker, upstream: Upstream['upstream'], target: Target, operation: Operation): boolean =>
  upstream.passesVerbatim?.(client.id, target, operation) ?? client.upstream === upstream;

/** What the caller receives. */
export interface Heard {
  /** Everything that was written to him. */
  text: string;
  losses: readonly Loss[];
}

/** The upstream's stream of `events`, as the caller gets it. */
export function answerStreamed(pair: Pair, asked: Asked, events: readonly ChatEvent[]): Heard {
  const bytes = play(pair.upstream, events);
  if (asked.rules) return { text: passStream(pair, asked, asked.rules, bytes), losses: [] };
  const { read, losses } = unwrapped(asked, readStream(pair.upstream, [bytes]));
  const writer = pair.client.client.createWriter(contextOf(asked));
  const text = read.map((event) => writer.write(event)).join('');
  return { text, losses: [...losses, ...writer.losses] };
}

/** The same as one JSON body. A wire that only streams gives it as the fold of its stream. */
export function answerWhole(pair: Pair, asked: Asked, events: readonly ChatEvent[]): Heard {
  const { client, upstream } = pair;
  const body = upstream.whole && JSON.stringify(upstream.whole(foldEvents(events)));
  if (asked.rules && body !== undefined) {
    const edits = asked.rules.createReply(verbatimContext(asked)).whole(JSON.parse(body));
    return { text: applyEdits(body, edits), losses: [] };
  }
  const read = body === undefined ? readStream(upstream, [play(upstream, events)]) : upstream.upstream.readWhole(JSON.parse(body), upstream.target);
  const reply = unwrapped(asked, read);
  const written = client.client.writeWhole(foldEvents(reply.read), contextOf(asked));
  return { text: JSON.stringify(written.body), losses: [...reply.losses, ...written.losses] };
}

/** The message that a client SDK builds from the bytes the caller received. */
export const understand = ({ client }: Pair, received: Heard, streamed: boolean): Message =>
  streamed
    ? foldEvents(readStream(client, [Buffer.from(received.text, 'utf8')]))
    : foldEvents(client.upstream.readWhole(JSON.parse(received.text), { ...plain, upstreamModelId: 'm' }));

const plain = { baseUrl: 'https://upstream.test', directPath: false, neutralHeaders: false, extraConfig: null };

export const contextOf = (asked: Asked): ReplyContext => replyContext(asked.echo);

export const verbatimContext = (asked: Asked): Parameters<VerbatimRules['createReply']>[0] => ({
  model: 'client-model',
  mintId: contextOf(asked).mintId,
  sealSignature: (signature) => signature,
  requestValue: (key) => (JSON.parse(asked.sent) as Record<string, unknown> | null)?.[key],
});

/** What was asked for by other means, and the caller's own tools, put back in the events of one reply. */
export function unwrapped(
  { emulation, bridge }: Pick<Asked, 'emulation' | 'bridge'>,
  events: readonly ChatEvent[],
): { read: ChatEvent[]; losses: readonly Loss[] } {
  const unwrapper = emulation && new OutputUnwrapper(emulation);
  const read = unwrapper?.read(events) ?? [...events];
  const lost = events.flatMap((event) => (event.type === 'finish' ? [...(event.lost ?? [])] : []));
  return { read: bridge?.restore(read) ?? read, losses: [...(unwrapper?.losses ?? []), ...lost] };
}

/** Each record with its edits, as the pump sends it on. */
function passStream({ upstream }: Pair, asked: Asked, rules: VerbatimRules, bytes: Uint8Array): string {
  const reply = rules.createReply(verbatimContext(asked));
  let text = '';
  const reader = {
    read(record: { event?: string | undefined; data: string; json: unknown }): ChatEvent[] {
      const edits = reply.record(record);
      if (edits === 'drop') return [];
      text += `${record.event === undefined ? '' : `event: ${record.event}\n`}data: ${record.json === undefined ? record.data : applyEdits(record.data, edits)}\n\n`;
      return [];
    },
    finish: (): ChatEvent[] => [],
  };
  readStream({ upstream: { ...upstream.upstream, createReader: () => reader }, target: upstream.target }, [bytes]);
  return text + (reply.finish?.() ?? '');
}
