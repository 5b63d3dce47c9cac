/** The least a proxy of WebSockets in Node can do (`ws` on both sides, frames as they are, each side no faster than the other): the base of every ratio. `--port N --up ws://…` */
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { WebSocket, WebSocketServer } from 'ws';

const { values } = parseArgs({ options: { port: { type: 'string' }, up: { type: 'string' } } });
const maxPayload = 16 * 1024 * 1024;
const maxBuffered = 1024 * 1024;

const sockets = new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false });
const server = createServer((_request, response) => void response.end('ready'));
server.on('upgrade', (request, socket, head) => {
  const upstream = new WebSocket(`${values.up}${request.url}`, {
    maxPayload,
    perMessageDeflate: false,
    headers: { authorization: request.headers.authorization },
  });
  upstream.on('error', () => socket.destroy());
  upstream.once('open', () => {
    upstream.pause();
    sockets.handleUpgrade(request, socket, head, (caller) => {
      pipe(caller, upstream);
      pipe(upstream, caller);
      upstream.resume();
    });
  });
});
server.listen(Number(values.port), '127.0.0.1');

function pipe(from: WebSocket, to: WebSocket): void {
  from.on('message', (data: Buffer, isBinary) => {
    to.send(data, { binary: isBinary }, () => {
      if (from.isPaused && to.bufferedAmount < maxBuffered) from.resume();
    });
    if (to.bufferedAmount >= maxBuffered) from.pause();
  });
  from.on('error', () => from.terminate());
  from.on('close', () => to.close());
}
