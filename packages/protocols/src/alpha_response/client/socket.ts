/**
 * Responses over a WebSocket: several turns on one connection, each a `response.create` frame that gets the events of the stream as frames. A frame
 * may name its lane (`stream_id`), which is then repeated in every frame of its answer. The connection remembers the last turn of each lane, so that
 * the next may name it, in any lane, and send only what is new; nothing of it outlives the connection. Other turns are asked of the store.
 */
import { scanBody } from '@model-gateway/json-bytes';
import type { SocketContext, SocketInput, SocketRequest, SocketSession } from '../../contract/index.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { isAgent } from '../shared/models-tag.ts';
import { parseBounded, parseObject } from '../shared/parse-event.ts';
import { newResponse, terminalEvents } from '../shared/wire.ts';

/** What a next turn goes on from. */
interface Turn {
  id: string;
  /** Its reply said that it is stored. */
  stored: boolean;
  items: unknown[];
  /** Of the frames and replies that the items came in. */
  bytes: number;
}

/** Fields of a frame that say how it travels; everything else is the body of a request. */
const ofTheFrame = ['type', 'generate', 'stream_id', 'background', 'previous_response_id'] as const;

/** A frame is held to the bounds of a request's body before it is parsed: what nests too deep cannot be printed again. */
const frameKeys = { keys: ['type', 'model', 'stream', 'stream_id', 'input', 'previous_response_id', 'generate'], distinctKeys: true } as const;

/** The vendor's own: names need no escapes in JSON. */
const laneName = /^[A-Za-z0-9_.-]{1,256}$/;
const maxLanes = 32;
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
  /** The id of the response that is under way, by lane. */
  readonly #running = new Map<string, string>();
  readonly #models = new Map<string, string>();
  #lastModel: string | undefined;
  #closed = false;

  constructor(context: SocketContext) {
    this.#context = context;
  }

  read(text: string): SocketInput {
    const scan = scanBody(Buffer.from(text, 'utf8'), frameKeys);
    const frame = scan.ok ? parseObject(text) : undefined;
    if (!scan.ok && scan.code !== 'invalid_json')
      return { answer: [refusal(400, scan.code === 'duplicate_key' ? scan.code : 'invalid_request', scan.message, scan.param ?? null)] };
    if (!frame) return { answer: [refusal(400, 'invalid_json', 'A frame must be a JSON object.')] };
    const type = asString(own(frame, 'type'));
    // Sent by some clients when they have processed a reply; needs no action.
    if (type === 'response.processed') return { answer: [] };
    const lane = own(frame, 'stream_id') ?? unnamed;
    if (typeof lane !== 'string' || (lane !== unnamed && !laneName.test(lane)))
      return { answer: [refusal(400, 'invalid_stream_id', 'stream_id must be 1 to 256 letters, digits, dots, hyphens and underscores.', 'stream_id')] };
    if (type === 'response.steer') return { answer: [this.#refuseSteering(frame, lane)] };
    if (type !== 'response.create') return { answer: [inLane(lane, refusal(400, 'invalid_request', 'The type of a frame must be response.create.', 'type'))] };
    if (lane !== unnamed && !this.#lanes.has(lane) && this.#lanes.size >= maxLanes)
      return { answer: [inLane(lane, refusal(400, 'websocket_stream_limit_reached', `A connection has at most ${maxLanes} named streams.`, 'stream_id'))] };
    if (lane !== unnamed) this.#lanes.add(lane);
    return {
      lane,
      begin: () => this.#begin(frame, lane, text.length),
      refuse: () => inLane(lane, refusal(400, 'response_in_progress', 'Too many requests wait for their turn on this connection.')),
    };
  }

  #begin(frame: JsonObject, lane: string, bytes: number): ReturnType<SocketRequest['begin']> {
    const parent = this.#parentOf(frame);
    const unknown = parent === undefined;
    if (unknown && !this.#mayBeStored(frame)) return { answer: [inLane(lane, this.#notFound())] };
    const given = own(frame, 'input') ?? [];
    const input = typeof given === 'string' ? [{ type: 'message', role: 'user', content: given }] : asArray(given);
    if (!input) return { answer: [inLane(lane, refusal(400, 'invalid_request', 'input must be a string or a list of items.', 'input'))] };
    const asked = { id: '', stored: false, items: [...(parent?.items ?? []), ...input], bytes: (parent?.bytes ?? 0) + bytes };
    // Kept as they came: they are read only where the end of the reply does not repeat them.
    const done = new DoneItems(this.#context.maxBytes);
    const body: JsonObject = { ...frame, input: asked.items, stream: true };
    for (const key of ofTheFrame) if (!unknown || key !== 'previous_response_id') delete body[key];
    const model = asString(own(frame, 'model')) ?? this.#models.get(lane) ?? this.#lastModel;
    if (model !== undefined) {
      body['model'] = model;
      this.#models.set(lane, model);
      this.#lastModel = model;
    }
    if (own(frame, 'generate') === false) return { answer: this.#warmUp(model ?? '', lane, asked) };
    // What the store or a conversation adds to the input is not known here.
    const remembered = !unknown && own(frame, 'conversation') === undefined;
    return {
      turn: {
        body: print(body),
        ...(parent?.stored && own(frame, 'store') !== false && { repeats: { turn: parent.id, items: parent.items.length } }),
        frame: (event, data) => {
          if (event === 'response.created') this.#started(lane, data);
          else if (event === 'response.output_item.done' && remembered) done.add(data);
          if (event !== undefined && terminalEvents.has(event)) {
            this.#running.delete(lane);
            if (remembered) this.#ended(lane, asked, data, done);
            else this.#forget(lane);
          }
          return inLane(lane, data);
        },
        writeError: (status, text) => inLane(lane, this.#writeError(status, text, model ?? '')),
      },
    };
  }

  /** The coding agent of this protocol ends its turn at these two statuses here, where over HTTP it asks again; of a failed response it asks again after the wait. */
  #writeError(status: number, body: string, model: string): string {
    const error = errorOf(status, body);
    if ((status !== 429 && status !== 503) || !isAgent(this.#context.headers)) return print({ type: 'error', status, error });
    const response = newResponse(this.#context.mintId('resp_'), model, Math.floor(this.#context.now() / 1000));
    // The one code whose wait it reads; one of an overload would end its turn as well.
    const failed = { code: 'rate_limit_exceeded', message: own(error, 'message') };
    return print({ type: 'response.failed', sequence_number: 0, response: { ...response, status: 'failed', error: failed } });
  }

  #started(lane: string, data: string): void {
    const id = asString(own(own(parseBounded(data), 'response'), 'id'));
    if (id !== undefined) this.#running.set(lane, id);
  }

  /** The vendor's refusal for models and servers that do not steer; clients carry the input into a request of its own. */
  #refuseSteering(frame: JsonObject, lane: string): string {
    const target = asString(own(frame, 'previous_response_id'));
    const input = own(frame, 'input');
    const valid = target !== undefined && (typeof input === 'string' || Array.isArray(input));
    const error = {
      type: 'invalid_request_error',
      code: valid ? 'steering_not_supported' : 'invalid_input',
      message: valid
        ? 'A response cannot be steered here: cancel it, or send the input in a response.create after it.'
        : 'response.steer needs previous_response_id and input.',
    };
    const steer = { previous_response_id: target ?? '', input: input ?? [] };
    const [steered = lane] = [...this.#running].find(([, id]) => id === target) ?? [];
    return inLane(steered, print({ type: 'response.steer.failed', sequence_number: 0, error, steer }));
  }

  /** A turn that this connection does not know may have been stored, by an earlier connection as well. A warm-up asks nobody. */
  #mayBeStored(frame: JsonObject): boolean {
    return this.#context.storesTurns && typeof own(frame, 'previous_response_id') === 'string' && own(frame, 'generate') !== false;
  }

  /** undefined: the frame names a turn that is no lane's last one. */
  #parentOf(frame: JsonObject): Turn | undefined {
    const previous = own(frame, 'previous_response_id') ?? undefined;
    if (previous === undefined) return { id: '', stored: false, items: [], bytes: 0 };
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
    const response: JsonObject = { ...newResponse(mintId('resp_'), model, Math.floor(now() / 1000)), store: false };
    this.#remember(lane, { ...asked, id: String(response['id']) });
    const usage = { input_tokens: 0, input_tokens_details: null, output_tokens: 0, output_tokens_details: null, total_tokens: 0 };
    return [
      { type: 'response.created', sequence_number: 0, response },
      { type: 'response.completed', sequence_number: 1, response: { ...response, status: 'completed', usage } },
    ].map((event) => inLane(lane, print(event)));
  }

  /** Remembers the turn. `done`: the events of its finished items, for servers whose last event does not list them. */
  #ended(lane: string, asked: Turn, data: string, done: DoneItems): void {
    const response = own(parseBounded(data), 'response');
    const id = asString(own(response, 'id'));
    const listed = asArray(own(response, 'output'));
    const items = listed?.length ? listed : done.items();
    if (id === undefined || !items || (!listed && items.length === 0)) return this.#forget(lane);
    const bytes = listed?.length ? data.length : data.length + done.bytes;
    this.#remember(lane, { id, stored: own(response, 'store') === true, items: [...asked.items, ...items], bytes: asked.bytes + bytes });
  }

  /** Replaces the lane's last turn; when full, the turn that ended longest ago is forgotten. The caller must send again what could not be remembered. */
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

function errorOf(status: number, body: string): JsonObject {
  // Some refusals of the gateway are plain text.
  return (
    asObject(own(parseObject(body), 'error')) ?? {
      type: status === 429 ? 'rate_limit_error' : 'server_error',
      code: status === 429 ? 'rate_limit_exceeded' : null,
      message: body,
      param: null,
    }
  );
}

/** The events of a reply's finished items, up to what may be remembered. */
class DoneItems {
  bytes = 0;
  readonly #maxBytes: number;
  #events: string[] = [];

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(event: string): void {
    this.bytes += event.length;
    if (this.bytes > this.#maxBytes) this.#events = [];
    else this.#events.push(event);
  }

  /** The items in the order of the output; undefined when they are too large, or one of them cannot be read. */
  items(): unknown[] | undefined {
    if (this.bytes > this.#maxBytes) return undefined;
    const items: { at: number; item: unknown }[] = [];
    for (const data of this.#events) {
      const event = parseBounded(data);
      const item = asObject(own(event, 'item'));
      if (!item) return undefined;
      items.push({ at: asNumber(own(event, 'output_index')) ?? items.length, item });
    }
    return items.sort((a, b) => a.at - b.at).map(({ item }) => item);
  }
}

export const createSocketSession = (context: SocketContext): SocketSession => new ResponsesSession(context);
