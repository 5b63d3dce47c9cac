/** Realtime sessions that are no conversations, played as their vendor plays them: transcription, translation, and live ones, which the client begins. */
import type { WebSocket } from 'ws';

/** What a player knows of its session. */
export interface KindPlay {
  readonly socket: WebSocket;
  /** The model in the address; null: none. */
  readonly model: string | null;
  refused(code: string): void;
}

type Event = Record<string, unknown>;

const read = (data: unknown): Event => {
  try {
    return JSON.parse(String(data)) as Event;
  } catch {
    return {};
  }
};

// biome-ignore lint/suspicious/noExplicitAny: events have many shapes.
const at = (value: any, ...path: string[]): unknown => path.reduce((found, name) => found?.[name], value);

function speaker({ socket, refused }: KindPlay) {
  const send = (event: Event): void => socket.send(JSON.stringify(event));
  const refuse = (code: string, message: string, more: Event = {}): void => {
    refused(code);
    send({ type: 'error', event_id: 'event_error', error: { type: 'invalid_request_error', code, message, param: null, ...more } });
  };
  return { send, refuse };
}

/** Writes down each committed piece of sound; one model bills by tokens, another by seconds. */
export function transcribe(play: KindPlay): void {
  const { send, refuse } = speaker(play);
  let model: unknown;
  let count = 0;
  send({ type: 'session.created', event_id: 'e1', session: { type: 'transcription', object: 'realtime.transcription_session', id: 'sess_1' } });
  play.socket.on('message', (data) => {
    const event = read(data);
    if (event['type'] === 'session.update') {
      if (at(event, 'session', 'type') !== 'transcription') return refuse('invalid_value', 'session.type must be transcription.');
      model = at(event, 'session', 'audio', 'input', 'transcription', 'model') ?? model;
      if (model !== 'hear' && model !== 'hear-seconds') return refuse('model_not_found', `There is no model ${String(model)}.`);
      return send({ type: 'session.updated', event_id: 'e2', session: event['session'] });
    }
    if (event['type'] === 'input_audio_buffer.append') return;
    if (event['type'] !== 'input_audio_buffer.commit') return refuse('invalid_value', `Not in this session: ${String(event['type'])}.`);
    if (model === undefined) return refuse('missing_model', 'No model was named.');
    const item = { item_id: `item_${++count}`, content_index: 0 };
    const usage =
      model === 'hear'
        ? { type: 'tokens', total_tokens: 15, input_tokens: 12, input_token_details: { text_tokens: 2, audio_tokens: 10 }, output_tokens: 3 }
        : { type: 'duration', seconds: 2.5 };
    send({ type: 'input_audio_buffer.committed', event_id: `c${count}`, item_id: item.item_id });
    send({ type: 'conversation.item.input_audio_transcription.delta', event_id: `d${count}`, ...item, delta: 'words' });
    send({ type: 'conversation.item.input_audio_transcription.completed', event_id: `f${count}`, ...item, transcript: 'words', usage });
  });
}

/** Says everything again in another language. */
export function translate(play: KindPlay): void {
  const { send, refuse } = speaker(play);
  const session = { type: 'translation', id: 'sess_1', model: play.model, expires_at: 1_900_000_000, audio: {} };
  send({ type: 'session.created', event_id: 'e1', session });
  play.socket.on('message', (data) => {
    const event = read(data);
    const settings = (event['session'] ?? {}) as Event;
    if (event['type'] === 'session.update')
      return 'model' in settings || 'type' in settings
        ? refuse('unknown_parameter', 'The model and the type are set at creation.')
        : send({ type: 'session.updated', event_id: 'e2', session: { ...session, ...settings } });
    if (event['type'] === 'session.input_audio_buffer.append') return send({ type: 'session.output_audio.delta', event_id: 'a', delta: event['audio'] });
    if (event['type'] !== 'session.close') return refuse('invalid_value', `Not in this session: ${String(event['type'])}.`);
    send({ type: 'session.closed', event_id: 'z' });
    play.socket.close(1000);
  });
}

/** Says nothing until the client has begun; work goes to responses beside the conversation. */
export function live(play: KindPlay): void {
  const { send, refuse } = speaker(play);
  let seconds = 0;
  let started = false;
  const start = (event: Event): void => {
    const model = at(event, 'session', 'model');
    if (event['type'] !== 'session.start' || typeof model !== 'string') {
      refuse('session_not_started', 'Send session.start first.');
      return play.socket.close(1008);
    }
    if (model === 'busy') {
      send({ type: 'error', event_id: 'x', error: { type: 'server_error', code: 'server_error', message: 'Not now.' } });
      return play.socket.close(1011);
    }
    if (at(event, 'session', 'voice') !== undefined) {
      refuse('unknown_parameter', 'Unknown parameter: session.voice', { param: 'session.voice' });
      return play.socket.close(1008);
    }
    started = true;
    send({ type: 'session.started', event_id: 'e1', session: { id: 'sess_1', model } });
  };
  play.socket.on('message', (data) => {
    const event = read(data);
    if (!started) return start(event);
    switch (event['type']) {
      case 'session.input_audio.append':
        seconds += 1.5;
        send({ type: 'session.output_audio.delta', event_id: 'a', delta: event['audio'] });
        return send({ type: 'session.usage.updated', event_id: 'u', usage: { seconds } });
      case 'response.create': {
        const response = { id: 'resp_1', object: 'response', status: 'in_progress' };
        const usage = { input_tokens: 20, input_tokens_details: { cached_tokens: 5 }, output_tokens: 4, total_tokens: 24 };
        send({ type: 'response.event', event_id: 'r1', event: { type: 'response.created', response } });
        send({ type: 'response.event', event_id: 'r2', event: { type: 'response.output_text.delta', delta: 'words' } });
        return send({ type: 'response.event', event_id: 'r3', event: { type: 'response.completed', response: { ...response, status: 'completed', usage } } });
      }
      case 'session.close':
        send({ type: 'session.closed', event_id: 'z' });
        return play.socket.close(1000);
      default:
        return refuse('unknown_event', `Unknown event: ${String(event['type'])}`, { client_event_id: event['event_id'] ?? null });
    }
  });
}
