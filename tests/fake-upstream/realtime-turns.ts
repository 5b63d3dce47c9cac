/** A recorded session for clients that do not send the recorded frames: each response comes when it is asked for, and a tool's call wants its output first. */
import { isDeepStrictEqual } from 'node:util';
import type { WebSocket } from 'ws';
import type { RecordedFrame } from './realtime-frames.ts';

type Event = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: events have many shapes.
const at = (value: any, ...path: string[]): unknown => path.reduce((found, name) => found?.[name], value);

/** The server's frames of each response, from its beginning to its end. */
function responsesOf(frames: readonly RecordedFrame[]): Event[][] {
  const responses: Event[][] = [];
  let open: Event[] | undefined;
  for (const { dir, data } of frames) {
    if (dir !== 'server') continue;
    if (data['type'] === 'response.created') {
      open = [];
      responses.push(open);
    }
    open?.push(data);
    if (data['type'] === 'response.done') open = undefined;
  }
  return responses;
}

const callsOf = (response: readonly Event[]): unknown[] =>
  response.filter((event) => event['type'] === 'response.function_call_arguments.done').map((event) => event['call_id']);

/** `refused` is told what a vendor would not take. */
export function replayTurns(socket: WebSocket, frames: readonly RecordedFrame[], refused: (code: string) => void): void {
  const send = (event: Event): void => socket.send(JSON.stringify(event));
  const responses = responsesOf(frames);
  const updated = frames.find(({ data }) => data['type'] === 'session.updated')?.data;
  const model = at(frames[0]?.data, 'session', 'model');
  const outputs: unknown[] = [];
  let awaited: unknown[] = [];
  const refuse = (code: string, eventId: unknown): void => {
    refused(code);
    send({
      type: 'error',
      event_id: 'event_error',
      error: { type: 'invalid_request_error', code, message: `refused: ${code}`, param: null, event_id: eventId ?? null },
    });
  };
  if (frames[0]) send(frames[0].data);
  socket.on('message', (bytes) => {
    const event = JSON.parse(bytes.toString()) as Event;
    const item = event['item'] as Event | undefined;
    switch (event['type']) {
      case 'session.update':
        if (at(event, 'session', 'type') !== 'realtime') return refuse('missing_required_parameter', event['event_id']);
        return send({ ...updated, session: { ...(updated?.['session'] as Event), ...(event['session'] as Event), model } });
      case 'conversation.item.create':
        if (item?.['type'] === 'function_call_output') outputs.push(item['call_id']);
        for (const type of ['conversation.item.added', 'conversation.item.done'])
          send({ type, event_id: `i${outputs.length}`, previous_item_id: null, item: { id: `item_${outputs.length}`, status: 'completed', ...item } });
        return;
      case 'response.create': {
        if (!isDeepStrictEqual(outputs, awaited)) return refuse('missing_tool_output', event['event_id']);
        const response = responses.shift();
        if (!response) return refuse('no_more_responses', event['event_id']);
        awaited = [...awaited, ...callsOf(response)];
        return response.forEach(send);
      }
      case 'input_audio_buffer.append':
      case 'response.cancel':
        return;
      default:
        return refuse('invalid_value', event['event_id']);
    }
  });
}
