/**
 * Puts a reply on the wire. Each piece leaves as one write, with the head or with its chunk's frame around it: Node's own framing makes four pieces
 * of every chunk, which cost more than all else that happens to a small event.
 */
import type { ServerResponse } from 'node:http';
import { asBuffer } from '@model-gateway/json-bytes';

/** Up to this size a copy costs less than a second piece to write. */
const maxCopied = 32 * 1024;
const lastChunk = '0\r\n\r\n';

/** A reply that is no HTTP connection's own breaks off, and keeps the line alive, in a way of its own. */
type Breakable = ServerResponse & { breakOff?(): void; keepAlive?(text: string): void };

export class ReplyBody {
  readonly #response: Breakable;
  /** The head says that chunks follow, and they are framed here. */
  #chunked = false;

  constructor(response: Breakable) {
    this.#response = response;
  }

  /** `headers`: name, value, name, value. */
  head(status: number, headers: string[]): void {
    const response = this.#response;
    response.writeHead(status, headers);
    // Node has decided by now: for HTTP/1.0, and for a body of known length, there are no chunks.
    this.#chunked = response.chunkedEncoding;
    response.chunkedEncoding = false;
  }

  /** false: the caller takes no more for now; `drain` of the response says when. */
  write(piece: Uint8Array | string): boolean {
    const response = this.#response;
    const bytes = typeof piece === 'string' ? Buffer.from(piece, 'utf8') : asBuffer(piece);
    // An empty chunk would be the last.
    if (bytes.length === 0) return !response.writableNeedDrain;
    // Text of one byte each: the very bytes.
    if (bytes.length <= maxCopied) return this.writeText(bytes.toString('latin1'));
    if (!this.#chunked) return response.write(bytes);
    response.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
    response.write(bytes);
    return response.write('\r\n', 'latin1');
  }

  /** The same of bytes as text, one character each, which the socket takes as they are; not empty. */
  writeText(text: string): boolean {
    return this.#response.write(this.#chunked ? `${text.length.toString(16)}\r\n${text}\r\n` : text, 'latin1');
  }

  /** Between events; a stream that is kept does not count it. */
  keepAlive(text: string): void {
    const response = this.#response;
    if (response.keepAlive) response.keepAlive(text);
    else this.write(text);
  }

  /**
   * Resets the connection without the reply's end, once what was written has left. A plain end would do to tell that there is more to come, where there
   * are chunks; but some clients repeat a request after a reset alone (Gemini CLI), and none was seen to mind one.
   */
  breakOff(): void {
    const response = this.#response;
    if (response.breakOff) return response.breakOff();
    const { socket } = response;
    // An empty piece is written when all before it has left.
    socket?.write('', () => socket.resetAndDestroy());
  }

  /** With a last piece, or without. */
  end(piece?: Uint8Array | string): void {
    const response = this.#response;
    if (this.#chunked) {
      if (piece !== undefined) this.write(piece);
      return void response.end(lastChunk, 'latin1');
    }
    if (piece === undefined) return void response.end();
    const bytes = typeof piece === 'string' ? Buffer.from(piece, 'utf8') : asBuffer(piece);
    if (bytes.length > maxCopied) response.end(bytes);
    else response.end(bytes.toString('latin1'), 'latin1');
  }
}
