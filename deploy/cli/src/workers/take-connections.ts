/** The worker's side of the port: connections come from the first process, which accepts them. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type FromWorker, isMessage, type ToWorker } from './messages.ts';

/** How often the number of open connections is reported to the first process, which gives new ones to the worker with the fewest. */
const reportMs = 1000;

/** The channel to the first process. */
export interface Channel {
  on(event: 'message', listener: (message: unknown, handle: unknown) => void): unknown;
  send?(message: FromWorker, handle: undefined, options: undefined, callback: () => void): boolean;
}

/** Serves connections that are handed over until `stop`; those that come later go back. */
export function takeConnections(server: Server, channel: Channel): { stop(): void } {
  let open = 0;
  let stopped = false;
  // The server never listens, and this is what lets it look after its connections.
  server.emit('listening');
  const send = (message: FromWorker, then: () => void = () => undefined): void => void channel.send?.(message, undefined, undefined, then);
  const take = (id: number, socket: Socket): void => {
    const max = server.maxConnections;
    if (stopped) {
      socket.destroy();
      return send({ type: 'refused', id });
    }
    if (max > 0 && open >= max) {
      server.emit('drop');
      socket.destroy();
      return send({ type: 'taken', id, open });
    }
    open++;
    socket.once('close', () => open--);
    socket.setNoDelay(true);
    // Said before anything is read: a connection whose worker died before this is served by another.
    send({ type: 'taken', id, open }, () => server.emit('connection', socket));
  };
  channel.on('message', (message, handle) => {
    if (!isMessage(message)) return;
    const { type, id } = message as ToWorker;
    if (type === 'connection' && handle) take(id, handle as Socket);
    // The caller left before its connection was here.
    else if (type === 'connection') send({ type: 'taken', id, open });
  });
  const reports = setInterval(() => send({ type: 'open', open }), reportMs).unref();
  return {
    stop() {
      stopped = true;
      clearInterval(reports);
    },
  };
}
