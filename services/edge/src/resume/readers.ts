/** Who reads a kept stream: the caller of this edge's own connection, or another edge over the bus. */
import type { ServerResponse } from 'node:http';
import type { ServerStream } from '@model-gateway/bus';
import { frameFlag } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { ReplyBody } from '../reply/reply-body.ts';

/** A caller who takes nothing of the rest of a stream for this long is cut off. */
const stalledMs = 60_000;

/** A kept stream, as its reader sees it. */
export interface ReadStream {
  /** The reader takes more. */
  pump(): void;
  /** The reader is gone, or has everything. */
  detach(reader: StreamReader): void;
}

/** Takes the bytes of a kept stream at its own pace. */
export interface StreamReader {
  /** `list`: name, value, name, value. */
  head(status: number, list: string[]): void;
  /** `between`: whole events so far. false: no more for now; the reader calls `pump` when it takes more. */
  write(bytes: Uint8Array, between: boolean): boolean;
  /** Between events; absent: who reads on sends keep-alives of its own. */
  keepAlive?(text: string): void;
  end(): void;
  /** Breaks off without an end. `sent`: when what was written has left, so that the caller repeats its request. */
  cut(sent?: boolean): void;
}

/** The connection on which the stream was asked for. */
export class ConnectionReader implements StreamReader {
  readonly #response: ServerResponse;
  readonly #body: ReplyBody;

  /** `body`: what has written to the response so far. */
  constructor(response: ServerResponse, stream: ReadStream, body = new ReplyBody(response)) {
    this.#response = response;
    this.#body = body;
    response.on('drain', () => stream.pump());
    response.on('close', () => stream.detach(this));
  }

  head(status: number, list: string[]): void {
    if (this.#response.headersSent) return;
    this.#body.head(status, list);
    // A caller that is cut off before the first event has to know the stream's name.
    this.#response.flushHeaders();
  }

  write(bytes: Uint8Array): boolean {
    return this.#body.write(bytes);
  }

  keepAlive(text: string): void {
    if (!this.#response.writableNeedDrain) this.#body.write(text);
  }

  end(): void {
    this.#body.end();
    // The socket's own time-out, which any progress puts off.
    if (this.#response.writableLength > 0) this.#response.setTimeout(stalledMs, () => this.#response.destroy());
  }

  cut(sent = false): void {
    if (sent) this.#body.breakOff();
    else this.#response.destroy();
  }
}

/** An edge whose caller goes on with the stream. */
export class EdgeReader implements StreamReader {
  readonly #call: ServerStream<'edge.stream'>;
  readonly #stream: ReadStream;

  constructor(call: ServerStream<'edge.stream'>, stream: ReadStream) {
    this.#call = call;
    this.#stream = stream;
    call.onWritable(() => stream.pump());
    call.onCancel(() => stream.detach(this));
  }

  /** The head alone, of a stream that goes on for its reader. */
  look(status: number, list: string[]): void {
    this.head(status, list);
    this.#call.tail({});
  }

  head(status: number, list: string[]): void {
    const headers: Record<string, string> = {};
    for (let at = 0; at + 1 < list.length; at += 2) if (ofTheStream.test(list[at]!)) headers[list[at]!] = list[at + 1]!;
    this.#call.head({ status, headers });
  }

  write(bytes: Uint8Array, between: boolean): boolean {
    return this.#call.data(bytes, between ? frameFlag.messageEnd : 0);
  }

  end(): void {
    this.#call.tail({});
    this.#stream.detach(this);
  }

  cut(): void {
    this.#call.fail(new GatewayError('stream_gone'));
  }
}

/** Headers that every reader of a stream gets; the others are about the first reader's request. */
const ofTheStream = /^(?:content-type|cache-control|x-gateway-.*)$/i;
