/**
 * Responses over a WebSocket: several turns on one connection, each a `response.create` frame that gets the events of the stream as frames. The
 * connection remembers its last turn, so that the next may name it and send only what is new; nothing of it outlives the connection.
 */
import { asArray, asObject, asString, type JsonObject, own } from '../kit/read.ts';
import type { SocketContext, SocketInput, SocketSession } from '../protocol.ts';
import { newResponse, terminalEvents } from './wire.ts';

interface Turn {
  id: string;
  input: unknown[];
  output: unknown[];
}

/** Fields of a frame that say how it travels; everything else is the body of a request. */
const ofTheFrame = ['type', 'generate', 'stream_id', 'background', 'previous_response_id'] as const;

const print = (value: unknown): string => JSON.stringify(value);
const refusal = (status: number, code: string, message: string, param: string | null = null): string =>
  print({ type: 'error', status, error: { type: 'invalid_request_error', code, message, param } });

class ResponsesSession implements SocketSession {
  readonly #context: SocketContext;
  #last: Turn | null = null;
  #model: string | undefined;
  /** Input of the turn under way, and its size in bytes. */
  #input: unknown[] = [];
  #inputBytes = 0;

  constructor(context: SocketContext) {
    this.#context = context;
  }

  read(text: string): SocketInput {
    const frame = parse(text);
    if (!frame) return { answer: [refusal(400, 'invalid_json', 'A frame must be a JSON object.')] };
    const type = asString(own(frame, 'type'));
    // Told by some clients when they have dealt with a reply; nothing follows from it.
    if (type === 'response.processed') return { answer: [] };
    if (type !== 'response.create') return { answer: [refusal(400, 'invalid_request', 'The type of a frame must be response.create.', 'type')] };
    const input = this.#wholeInput(frame);
    if (!input) return { answer: [this.#notFound()] };
    this.#input = input;
    this.#inputBytes = text.length;
    const body: JsonObject = { ...frame, input, stream: true };
    for (const key of ofTheFrame) delete body[key];
    const model = asString(own(frame, 'model')) ?? this.#model;
    if (model !== undefined) body['model'] = model;
    this.#model = model;
    if (own(frame, 'generate') === false) return { answer: this.#warmUp(model ?? '') };
    return { body: print(body) };
  }

  /** undefined: the frame names a turn that is not this connection's last one. */
  #wholeInput(frame: JsonObject): unknown[] | undefined {
    const given = own(frame, 'input');
    const input = typeof given === 'string' ? [{ type: 'message', role: 'user', content: given }] : (asArray(given) ?? []);
    const previous = own(frame, 'previous_response_id');
    if (previous === undefined) return input;
    return this.#last?.id === previous ? [...this.#last.input, ...this.#last.output, ...input] : undefined;
  }

  #notFound(): string {
    const message = 'The previous response is not known on this connection: send the whole input.';
    return refusal(400, 'previous_response_not_found', message, 'previous_response_id');
  }

  /** `generate: false`: the client only wants a turn to go on from. */
  #warmUp(model: string): string[] {
    const { mintId, now } = this.#context;
    const response = newResponse(mintId('resp_'), model, Math.floor(now() / 1000));
    this.#last = { id: String(response['id']), input: this.#input, output: [] };
    const usage = { input_tokens: 0, input_tokens_details: null, output_tokens: 0, output_tokens_details: null, total_tokens: 0 };
    return [
      print({ type: 'response.created', sequence_number: 0, response }),
      print({ type: 'response.completed', sequence_number: 1, response: { ...response, status: 'completed', usage } }),
    ];
  }

  observe(event: string | undefined, data: string): void {
    if (event === undefined || !terminalEvents.has(event)) return;
    const response = own(parse(data), 'response');
    const id = asString(own(response, 'id'));
    const output = asArray(own(response, 'output'));
    const fits = this.#inputBytes + data.length <= this.#context.maxBytes;
    this.#last = id !== undefined && output && fits ? { id, input: this.#input, output } : null;
    this.#input = [];
  }

  writeError(status: number, body: string): string {
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

  busy(): string {
    return refusal(400, 'response_in_progress', 'A response is under way on this connection.');
  }

  limitReached(): string {
    return refusal(
      400,
      'websocket_connection_limit_reached',
      'Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.',
    );
  }
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
