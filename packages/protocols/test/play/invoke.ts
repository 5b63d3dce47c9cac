/** Plays InvokeModel: the events of the model's vendor inside the host's chunks. */
import { type ClientAdapter, type Conversation, clientProtocols } from '../../src/index.ts';
import { converseEvents, converseWhole, readConverse } from './converse.ts';
import { writeEvent } from './event-stream.ts';
import type { UpstreamPlayer } from './player.ts';

const chunk = (event: unknown): Uint8Array => writeEvent('chunk', { bytes: Buffer.from(JSON.stringify(event), 'utf8').toString('base64'), p: 'abc' });
const metrics = { 'amazon-bedrock-invocationMetrics': { inputTokenCount: 1, outputTokenCount: 1, invocationLatency: 1, firstByteLatency: 1 } };

/** The messages shape, played by that protocol's own writer. */
export function messagesPlayer(own: UpstreamPlayer): UpstreamPlayer {
  const door = clientProtocols.find(({ id }) => id === 'beta')?.client as ClientAdapter;
  return {
    stream: (events) =>
      own
        .stream(events)
        .flatMap((piece) => String(piece).split('\n'))
        .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6)) as { type: string }] : []))
        .map((event) => chunk(event.type === 'message_stop' ? { ...event, ...metrics } : event)),
    whole: (reply) => own.whole?.(reply),
    readRequest(body): Conversation {
      const wire = JSON.parse(JSON.stringify(body)) as Record<string, unknown>;
      if (wire['anthropic_version'] !== 'bedrock-2023-05-31' || 'model' in wire || 'stream' in wire) throw new Error('not a body of this host');
      delete wire['anthropic_version'];
      return door.readRequest({ ...wire, model: 'm' }, { path: '', operation: 'generate', model: 'm', streamForm: 'sse', headers: {} }).conversation;
    },
  };
}

export const novaPlayer: UpstreamPlayer = {
  stream: (events) => converseEvents(events).map(([type, payload]) => chunk(type === 'metadata' ? { [type]: payload, ...metrics } : { [type]: payload })),
  whole: converseWhole,
  readRequest: (body) => readConverse(JSON.parse(JSON.stringify(body))),
};
