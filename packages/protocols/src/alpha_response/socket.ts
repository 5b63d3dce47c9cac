/**
 * Responses over a WebSocket: several turns on one connection, each a `response.create` frame that gets the events of the stream as frames. A frame
 * may name its lane (`stream_id`), which then stands in every frame of its answer. The connection remembers the last turn of each lane, so that the
 * next may name it, in any lane, and send only what is new; nothing of it outlives the connection.
 */
import { scanBody } from '@model-gateway/json';
import { asArray, asObject, asString, type JsonObject, own } from '../kit/read.ts';
import type { SocketContext, SocketInput, SocketRequest, SocketSession } from '../protocol.ts';
import { newResponse, terminalEvents } from './wire.ts';

/** What a next turn goes on from. */
interface Turn {
  id: string;
  items: unknown[];
  /** Of the frames and replies that the items came in. */
  bytes: number;
}

/** Fields of a frame that say how it travels; everything else is the body of a request. */
const ofTheFrame = ['type', 'generate', 'stream_id', 'background', 'previous_response_id'] as const;

/** A frame is held to the bounds of a request's body before it is parsed: what nests too deep cannot be printed again. */
const frameKeys = { keys: ['type', 'model', 'stream', 'stream_id', 'input', 'previous_response_id', 'generate'], distinctKeys: true } as const;
const noKeys = { keys: [] } as const;

/** The vendor's own: names need no escapes in JSON. */
const laneName = /^[A-Za-z0-9_.-]{1,256}$/;
const mostLanes = 32;
/** Of frames that name none. */
const unnamed = '';

const print = (value: unknown): string => JSON.stringify(value);
const refusal = (status: number, code: string, message: string, param: string | null = null): string =>
  print({ type: 'error', status, error: { type: 'invalid_request_error', code, message, param } });

/** The frame as its lane's. */
function inLane(lane: string, json: string): string {
  if (lane === unnamed) return json;
  const rest = json.slice(json.indexOf('{') + 1).trimStart();
  return `{"stream_id":"${lane}"${rest.startsWith('}') ? '' : ','}${rest}`;
}

class ResponsesSession implements SocketSession {
  readonly #context: SocketContext;
  /** By lane, the one that ended last at the end. */
  readonly #turns = new Map<string, Turn>();
  readonly #lanes = new Set<string>();
  readonly #models = new Map<string, string>();
  #lastModel: string | undefined;
  #closed = false;

  constructor(context: SocketContext) {
    this.#context = context;
  }

  read(text: string): SocketInput {
    const scan = scanBody(Buffer.from(text, 'utf8'), frameKeys);
    const frame = scan.ok ? parse(text) : undefined;
    if (!scan.ok && scan.code !== 'invalid_json')
      return { answer: [refusal(400, scan.code === 'duplicate_key' ? scan.code : 'invalid_request', scan.message, scan.param ?? null)] };
    if (!frame) return { answer: [refusal(400, 'invalid_json', 'A frame must be a JSON object.')] };
    const type = asString(own(frame, 'type'));
    // Told by some clients when they have dealt with a reply; nothing follows from it.
    if (type === 'response.processed') return { answer: [] };
    const lane = own(frame, 'stream_id') ?? unnamed;
    if (typeof lane !== 'string' || (lane !== unnamed && !laneName.test(lane)))
      return { answer: [refusal(400, 'invalid_stream_id', 'stream_id must be 1 to 256 letters, digits, dots, hyphens and underscores.', 'stream_id')] };
    if (type?.startsWith('response.steer'))
      return {
        answer: [
          inLane(lane, refusal(400, 'unsupported_operation', 'A response cannot be steered here: cancel it, or send a response.create after it.', 'type')),
        ],
      };
    if (type !== 'response.create') return { answer: [inLane(lane, refusal(400, 'invalid_request', 'The type of a frame must be response.create.', 'type'))] };
    if (lane !== unnamed && !this.#lanes.has(lane) && this.#lanes.size >= mostLanes)
      return { answer: [inLane(lane, refusal(400, 'websocket_stream_limit_reached', `A connection has at most ${mostLanes} named streams.`, 'stream_id'))] };
    if (lane !== unnamed) this.#lanes.add(lane);
    return {
      lane,
      begin: () => this.#begin(frame, lane, text.length),
      refuse: () => inLane(lane, refusal(400, 'response_in_progress', 'Too many requests wait for their turn on this connection.')),
    };
  }

  #begin(frame: JsonObject, lane: string, bytes: number): ReturnType<SocketRequest['begin']> {
    const parent = this.#parentOf(frame);
    if (!parent) return { answer: [inLane(lane, this.#notFound())] };
    const given = own(frame, 'input') ?? [];
    const input = typeof given === 'string' ? [{ type: 'message', role: 'user', content: given }] : asArray(given);
    if (!input) return { answer: [inLane(lane, refusal(400, 'invalid_request', 'input must be a string or a list of items.', 'input'))] };
    const asked = { id: '', items: [...parent.items, ...input], bytes: parent.bytes + bytes };
    const body: JsonObject = { ...frame, input: asked.items, stream: true };
    for (const key of ofTheFrame) delete body[key];
    const model = asString(own(frame, 'model')) ?? this.#models.get(lane) ?? this.#lastModel;
    if (model !== undefined) {
      body['model'] = model;
      this.#models.set(lane, model);
      this.#lastModel = model;
    }
    if (own(frame, 'generate') === false) return { answer: this.#warmUp(model ?? '', lane, asked) };
    return {
      turn: {
        body: print(body),
        frame: (event, data) => {
          if (event !== undefined && terminalEvents.has(event)) this.#ended(lane, asked, data);
          return inLane(lane, data);
        },
        writeError: (status, text) => inLane(lane, writeError(status, text)),
      },
    };
  }

  /** undefined: the frame names a turn that is no lane's last one. */
  #parentOf(frame: JsonObject): Turn | undefined {
    const previous = own(frame, 'previous_response_id') ?? undefined;
    if (previous === undefined) return { id: '', items: [], bytes: 0 };
    for (const turn of this.#turns.values()) if (turn.id === previous) return turn;
    return undefined;
  }

  #notFound(): string {
    const message = 'The previous response is not known on this connection: send the whole input.';
    return refusal(400, 'previous_response_not_found', message, 'previous_response_id');
  }

  /** `generate: false`: the client only wants a turn to go on from. */
  #warmUp(model: string, lane: string, asked: Turn): string[] {
    const { mintId, now } = this.#context;
    const response = newResponse(mintId('resp_'), model, Math.floor(now() / 1000));
    this.#remember(lane, { ...asked, id: String(response['id']) });
    const usage = { input_tokens: 0, input_tokens_details: null, output_tokens: 0, output_tokens_details: null, total_tokens: 0 };
    return [
      { type: 'response.created', sequence_number: 0, response },
      { type: 'response.completed', sequence_number: 1, response: { ...response, status: 'completed', usage } },
    ].map((event) => inLane(lane, print(event)));
  }

  #ended(lane: string, asked: Turn, data: string): void {
    const response = scanBody(Buffer.from(data, 'utf8'), noKeys).ok ? own(parse(data), 'response') : undefined;
    const id = asString(own(response, 'id'));
    const output = asArray(own(response, 'output'));
    if (id === undefined || !output) this.#forget(lane);
    else this.#remember(lane, { id, items: [...asked.items, ...output], bytes: asked.bytes + data.length });
  }

  /** In place of the lane's last one; what ended longest ago makes room. What cannot be remembered the caller has to send again. */
  #remember(lane: string, turn: Turn): void {
    const { maxBytes, memory } = this.#context;
    this.#forget(lane);
    if (this.#closed || turn.bytes > maxBytes) return;
    let all = turn.bytes;
    for (const { bytes } of this.#turns.values()) all += bytes;
    for (const [other, { bytes }] of this.#turns) {
      if (all <= maxBytes) break;
      this.#forget(other);
      all -= bytes;
    }
    if (memory.take(turn.bytes)) this.#turns.set(lane, turn);
  }

  #forget(lane: string): void {
    const turn = this.#turns.get(lane);
    if (!turn) return;
    this.#turns.delete(lane);
    this.#context.memory.give(turn.bytes);
  }

  close(): void {
    this.#closed = true;
    for (const lane of [...this.#turns.keys()]) this.#forget(lane);
  }

  limitReached(): string {
    return refusal(
      400,
      'websocket_connection_limit_reached',
      'Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.',
    );
  }
}

function writeError(status: number, body: string): string {
  const error = asObject(own(parse(body), 'error'));
  // Some refusals of the gateway are plain text.
  const told = error ?? {
    type: status === 429 ? 'rate_limit_error' : 'server_error',
    code: status === 429 ? 'rate_limit_exceeded' : null,
    message: body,
    param: null,
  };
  return print({ type: 'error', status, error: told });
}

export const createSocketSession = (context: SocketContext): SocketSession => new ResponsesSession(context);

function parse(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    // What cannot be read is told to whoever sent it.
    return undefined;
  }
}
