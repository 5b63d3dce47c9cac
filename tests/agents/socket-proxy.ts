/** A proxy for WebSockets in front of the gateway: it has every turn stored, and its connections can all be cut at once, as a network does. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RawData, WebSocket, WebSocketServer } from 'ws';

export interface SocketProxy {
  url: string;
  /** WebSockets that were opened through it. */
  sockets: number;
  /** Requests that named the response before them. */
  chained: number;
  /** Breaks every connection that is open. */
  cut(): void;
  close(): Promise<void>;
}

export async function openSocketProxy(to: string): Promise<SocketProxy> {
  // What comes without a WebSocket is answered as by a server that has nothing else.
  const server = createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({ server });
  const proxy: SocketProxy = {
    url: '',
    sockets: 0,
    chained: 0,
    cut() {
      for (const near of sockets.clients) near.terminate();
    },
    close: () =>
      new Promise((resolve) => {
        proxy.cut();
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  sockets.on('connection', (near: WebSocket, request: IncomingMessage) => {
    proxy.sockets++;
    const { authorization = '', 'openai-beta': beta } = request.headers;
    const far = new WebSocket(`${to.replace('http', 'ws')}${request.url}`, { headers: { authorization, ...(beta !== undefined && { 'openai-beta': beta }) } });
    const early: string[] = [];
    far.on('open', () => {
      for (const frame of early.splice(0)) far.send(frame);
    });
    near.on('message', (data: RawData) => {
      const frame = storing(data.toString());
      if ('previous_response_id' in frame) proxy.chained++;
      const text = JSON.stringify(frame);
      if (far.readyState === WebSocket.OPEN) far.send(text);
      else early.push(text);
    });
    far.on('message', (data: RawData) => near.send(data.toString()));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on('error', () => other.terminate()).on('close', () => other.terminate());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

/** Agents that keep their conversation themselves ask that nothing is stored. */
function storing(text: string): Record<string, unknown> {
  const frame = JSON.parse(text) as Record<string, unknown>;
  return frame['type'] === 'response.create' ? { ...frame, store: true } : frame;
}
