/** Answers to bytes that are not an HTTP request: Node's parser stops at them, so no request listener is called. */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorCode, errorCodes } from '@model-gateway/contracts/errors';
import { mintRequestId } from '@model-gateway/service-runtime';
import { protocolOfPrefix } from './client-routes.ts';
import { sayLast } from './close-with-message.ts';
import { isAnswered } from './discard-request-body.ts';

interface Broken {
  code: ErrorCode;
  reason: string;
  /** Where the table's sentence says too little. */
  message?: string;
}

const brokenBy: Readonly<Record<string, Broken>> = {
  HPE_HEADER_OVERFLOW: { code: 'headers_too_large', reason: 'Request Header Fields Too Large' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', reason: 'Request Timeout' },
};
const notHttp: Broken = { code: 'invalid_request', reason: 'Bad Request', message: 'What was sent is not a valid HTTP request.' };

/** Node's own handler looks there, too; a record of our own would keep replies alive. */
type Connection = Duplex & { _httpMessage?: ServerResponse | null };

/** Answers and closes; in the middle of a reply nothing more can be said. */
export function answerBroken(error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Connection): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return void socket.destroy();
  // Refused by its head already: that answer goes out before the connection ends. Into a reply that is under way nothing can be said.
  const reply = socket._httpMessage;
  if (socket.writableEnded || (reply && isAnswered(reply))) return sayLast(socket, '');
  if (!socket.writable || reply?.headersSent) return void socket.destroy();
  const { code, reason, message = errorCodes[code].message } = brokenBy[error.code ?? ''] ?? notHttp;
  const { status } = errorCodes[code];
  const requestId = mintRequestId();
  const { client } = protocolOfPrefix(pathOf(error.rawPacket));
  const { body } = client.writeError({ status, code, message, requestId });
  const headers = { 'x-request-id': requestId, ...client.replyHeaders?.(requestId), 'content-type': 'application/json', connection: 'close' };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  sayLast(socket, `HTTP/1.1 ${status} ${reason}\r\n${head.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** Of the request line, when the bytes at hand begin with it. */
const pathOf = (packet: Buffer | undefined): string => /^[A-Z]{1,20} (\/[^ ?]{0,200})/.exec(packet?.toString('latin1', 0, 256) ?? '')?.[1] ?? '/';
