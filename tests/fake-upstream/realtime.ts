/**
 * An upstream of realtime sessions: replays recordings, each frame of the server's when the frames of the client before it have come, or plays a script.
 * It refuses what vendors refuse.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { type WebSocket, WebSocketServer } from 'ws';
import { type BidiPlay, bidiPath, keyOfBidi, playBidi, recordedModel } from './realtime-bidi.ts';
import { type RecordedFrame, readFrames } from './realtime-frames.ts';
import { type KindPlay, live, transcribe, translate } from './realtime-kinds.ts';
import { replayTurns } from './realtime-turns.ts';

export type { RecordedFrame };
export { readFrames, recordedModel };

/** The vendor of `delta_realtime` has another address, sessions without a type, and another spelling of usage. */
const deltaPath = '/api-ws/v1/realtime';

/** Sessions of other kinds, by their path and intent: who plays them, and whether their address names a model. */
function findKind(url: URL): { play(play: KindPlay & BidiPlay): void; named: boolean } | undefined {
  if (url.pathname === '/v1/live/sessions') return { play: live, named: false };
  if (bidiPath.test(url.pathname)) return { play: playBidi, named: false };
  if (url.pathname === '/v1/realtime/translations') return { play: translate, named: true };
  return url.pathname === '/v1/realtime' && url.searchParams.get('intent') === 'transcription' ? { play: transcribe, named: false } : undefined;
}

/** A session, or the wish for one. */
export interface RealtimeSession {
  path: string;
  headers: IncomingMessage['headers'];
  key: string;
  /** Absent: the handshake was refused. */
  socket?: WebSocket;
  received: { data: Buffer; isBinary: boolean }[];
  /** How the gateway closed it. */
  closed?: { code: number; reason: string };
  /** Frames that were not those of the recording, or events that the vendor refused. */
  refused: string[];
}

export interface FakeRealtime {
  url: string;
  sessions: RealtimeSession[];
  close(): Promise<void>;
}

const errorEvent = (code: string, message: string, eventId: unknown = null) => ({
  type: 'error',
  event_id: 'event_error',
  error: { type: 'invalid_request_error', code, message, param: null, event_id: eventId },
});

/**
 * Model ids: `fixture/<case>` replays; `turns/<case>` does so response by response, for clients with frames of their own; `talk` speaks with events of the vendor's; `speak` does so with sound, when it is asked to alone; `echo` sends back what comes; `close:<code>:<reason>` closes at the
 * word `now`, `closed-first:<code>:<reason>` before the first frame, `error-first:<code>:<close>` after an error that tells too much (1008 where no close is given; `open`:
 * never); `noise:<bytes>:<model>` speaks of something else first; `status:<n>` refuses the handshake, `reset` breaks it off, `silent` never begins;
 * `flood:<frames>:<bytes>` sends that much at once. A key that holds `bad` is refused with 401.
 */
export async function startFakeRealtime(): Promise<FakeRealtime> {
  const sessions: RealtimeSession[] = [];
  const server = createServer((_request, response) => void response.writeHead(404).end());
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 32 * 1024 * 1024 });
  server.on('upgrade', (request, socket, head) => {
    const url = new URL(request.url ?? '/', 'http://fake');
    const session: RealtimeSession = {
      path: request.url ?? '/',
      headers: request.headers,
      key: bidiPath.test(url.pathname) ? keyOfBidi(request) : (request.headers.authorization ?? '').replace('Bearer ', ''),
      received: [],
      refused: [],
    };
    sessions.push(session);
    const refuse = (status: number, code: string): void => {
      const body = JSON.stringify({ error: { type: 'invalid_request_error', code, message: `refused: ${code}`, param: null } });
      socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
    };
    const model = url.searchParams.get('model');
    // The vendor of the other protocol reads a key after the handshake.
    if (session.key === '' || (session.key.includes('bad') && !bidiPath.test(url.pathname))) return refuse(401, 'invalid_api_key');
    const isDelta = url.pathname === deltaPath;
    const kind = findKind(url);
    if (kind ? (model !== null) !== kind.named : (url.pathname !== '/v1/realtime' && !isDelta) || model === null) return refuse(400, 'missing_model');
    const status = /^status:(\d+)$/.exec(model ?? '')?.[1];
    if (status) return refuse(Number(status), status === '429' ? 'rate_limit_exceeded' : 'refused');
    if (model === 'reset') return void socket.destroy();
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      session.socket = accepted;
      accepted.on('error', () => accepted.terminate());
      accepted.on('close', (code, reason) => {
        session.closed = { code, reason: reason.toString() };
      });
      accepted.on('message', (data: Buffer, isBinary) => session.received.push({ data, isBinary }));
      if (kind) kind.play({ socket: accepted, model, key: session.key, refused: (code) => session.refused.push(code) });
      else play(session, accepted, model ?? '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sessions,
    async close() {
      for (const { socket } of sessions) socket?.terminate();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

/** `model`: what is left of its id. */
function play(session: RealtimeSession, socket: WebSocket, model: string, id = model): void {
  const send = (event: unknown): void => socket.send(JSON.stringify(event));
  const [kind = '', first = '', second = '', ...rest] = model.split(':');
  if (model.startsWith('fixture/')) return replay(session, socket, readFrames(model.slice('fixture/'.length)));
  if (model.startsWith('turns/')) return replayTurns(socket, readFrames(model.slice('turns/'.length)), (code) => session.refused.push(code));
  if (kind === 'silent') return;
  if (kind === 'noise') {
    send({ type: 'rate_limits.updated', rate_limits: [], padding: 'x'.repeat(Number(first)) });
    return play(session, socket, [second, ...rest].join(':'), id);
  }
  if (kind === 'closed-first') return closeWith(socket, Number(first), second);
  if (kind === 'error-first') {
    send(errorEvent(first, `not now: ${id} with ${session.key}`));
    if (second !== 'open') socket.close(Number(second || 1008));
    return;
  }
  send({ event_id: 'event_1', type: 'session.created', session: { object: 'realtime.session', id: 'sess_1', model } });
  if (kind === 'echo') socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  else if (kind === 'close') socket.on('message', (data) => data.toString() === 'now' && closeWith(socket, Number(first), second));
  else if (kind === 'flood') flood(socket, Number(first), Number(second));
  else talk(session, socket, model, send);
}

function closeWith(socket: WebSocket, code: number, reason: string): void {
  if (code === 1006) socket.terminate();
  else if (code === 1005) socket.close();
  else socket.close(code, reason);
}

/** Numbered frames, as fast as they are read. */
function flood(socket: WebSocket, frames: number, bytes: number): void {
  let sent = 0;
  const more = (): void => {
    if (sent >= frames || socket.readyState !== socket.OPEN) return;
    const frame = Buffer.alloc(bytes, 97);
    frame.write(String(sent++).padStart(8, '0'));
    socket.send(frame, { binary: true }, more);
  };
  more();
}

function replay(session: RealtimeSession, socket: WebSocket, frames: readonly RecordedFrame[]): void {
  let at = 0;
  const goOn = (): void => {
    while (frames[at]?.dir === 'server') socket.send(JSON.stringify(frames[at++]?.data));
  };
  socket.on('message', (data) => {
    const expected = frames[at];
    if (expected?.dir === 'client' && isDeepStrictEqual(JSON.parse(data.toString()), expected.data)) at++;
    else session.refused.push(`not frame ${at}: ${data.toString().slice(0, 200)}`);
    goOn();
  });
  goOn();
}

/** A tenth of a second of 16-bit samples at 24 kHz. */
const tone = Buffer.from(Int16Array.from({ length: 2400 }, (_, at) => 8000 * Math.sin(at / 10)).buffer).toString('base64');

const known = new Set([
  'session.update',
  'conversation.item.create',
  'input_audio_buffer.append',
  'input_audio_buffer.commit',
  'response.create',
  'response.cancel',
]);
const usage = {
  total_tokens: 30,
  input_tokens: 20,
  output_tokens: 10,
  input_token_details: { text_tokens: 12, audio_tokens: 8, cached_tokens: 4, cached_tokens_details: { text_tokens: 4, audio_tokens: 0 } },
  output_token_details: { text_tokens: 3, audio_tokens: 7 },
};

const { input_token_details, output_token_details, ...totals } = usage;
const deltaUsage = { ...totals, input_tokens_details: input_token_details, output_tokens_details: output_token_details };

/** `response.create` begins a response, which ends at the next event, or by itself unless its instructions say `wait`. */
function talk(session: RealtimeSession, socket: WebSocket, model: string, send: (event: unknown) => void): void {
  const isDelta = session.path.startsWith(deltaPath);
  let count = 0;
  let active: string | null = null;
  const refuse = (code: string, message: string, eventId?: unknown): void => {
    session.refused.push(code);
    send(errorEvent(code, message, eventId));
  };
  const end = (status: string): void => {
    const details = status === 'failed' ? { type: 'failed', error: { type: 'server_error', code: 'server_error' } } : null;
    send({
      type: 'response.done',
      event_id: `d${count}`,
      response: { id: active, object: 'realtime.response', status, status_details: details, usage: isDelta ? deltaUsage : usage },
    });
    active = null;
  };
  const respond = (instructions: unknown): void => {
    active = `resp_${++count}`;
    send({ type: 'response.created', event_id: `c${count}`, response: { id: active, status: 'in_progress' } });
    send({ type: 'response.output_text.delta', response_id: active, delta: 'words' });
    if (model === 'speak') send({ type: 'response.output_audio.delta', response_id: active, delta: tone });
    if (instructions === 'fail') end('failed');
    else if (instructions !== 'wait') end('completed');
  };
  socket.on('message', (data) => {
    let event: Record<string, unknown>;
    try {
      event = JSON.parse(data.toString()) as Record<string, unknown>;
    } catch {
      return refuse('invalid_json', 'This is no JSON.');
    }
    const { type, event_id: eventId } = event;
    if (typeof type !== 'string' || !known.has(type)) return refuse('invalid_value', `Invalid value: ${String(type)}`, eventId);
    if (type === 'session.update') {
      const update = (event['session'] ?? {}) as Record<string, unknown>;
      if (!isDelta && update['type'] === undefined) return refuse('missing_required_parameter', 'Missing required parameter: session.type', eventId);
      if (update['model'] !== undefined && update['model'] !== model) return refuse('cannot_update_model', 'The model cannot be changed.', eventId);
      return send({ type: 'session.updated', event_id: 'u', session: { ...update, model } });
    }
    if (type === 'response.cancel') return active === null ? refuse('response_cancel_not_active', 'Nothing runs.', eventId) : end('cancelled');
    if (type === 'input_audio_buffer.commit') return model === 'speak' ? send({ type: 'input_audio_buffer.committed', item_id: 'i' }) : respond(undefined);
    if (type !== 'response.create') return;
    if (active !== null) return refuse('conversation_already_has_active_response', 'One is running.', eventId);
    respond((event['response'] as Record<string, unknown> | undefined)?.['instructions']);
  });
}
