/** A caller's request without a socket: what admission reads of it. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

/** `headers` as pairs, so that one may come twice; parsed by Node as it parses a real request. */
export function fakeRequest(headers: readonly (readonly [string, string])[] = [], remoteAddress = '203.0.113.9'): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  const request = new IncomingMessage(socket);
  request.rawHeaders = headers.flat();
  // The parser's own way of filling `headers`: joins or drops repeated ones as Node does.
  for (const [name, value] of headers) {
    (request as unknown as { _addHeaderLine(name: string, value: string, into: object): void })._addHeaderLine(name, value, request.headers);
  }
  return request;
}
