/** How much memory a process of the gateway really holds: what is left after a full garbage collection, asked through the runtime's inspector. */
import type { ManagedProcess } from './managed-process.ts';

/** For `startGateway({ env })`: every process opens an inspector on a loopback port of the system's choice and names it in its log. */
export const inspected = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

const listening = /^Debugger listening on (ws:\/\/\S+)$/;
const answerMs = 60_000;
/** Known from an earlier look: after a long run the line that names it is no longer among those that are kept. */
const inspectors = new WeakMap<ManagedProcess, string>();

/** Used JavaScript heap and the memory of its buffers after a collection, in MiB. */
export async function liveHeapMib(one: ManagedProcess): Promise<number> {
  const url =
    one
      .logs()
      .map((line) => listening.exec(line)?.[1])
      .findLast((found) => found !== undefined) ?? inspectors.get(one);
  if (url === undefined) throw new Error(`${one.name} opened no inspector`);
  inspectors.set(one, url);
  const socket = new WebSocket(url);
  try {
    await received(socket, 'open');
    // Twice: what a finalizer lets go of in the first is only collected in the second.
    await ask(socket, 1, 'HeapProfiler.collectGarbage');
    await ask(socket, 2, 'HeapProfiler.collectGarbage');
    const { usedSize, backingStorageSize } = await ask(socket, 3, 'Runtime.getHeapUsage');
    return (Number(usedSize) + Number(backingStorageSize ?? 0)) / 2 ** 20;
  } finally {
    socket.close();
  }
}

function received(socket: WebSocket, event: 'open'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.addEventListener(event, () => resolve(), { once: true });
    socket.addEventListener('error', () => reject(new Error('the inspector refused')), { once: true });
  });
}

function ask(socket: WebSocket, id: number, method: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no answer to ${method}`)), answerMs);
    const read = ({ data }: MessageEvent): void => {
      const message = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown>; error?: { message: string } };
      if (message.id !== id) return;
      clearTimeout(late);
      socket.removeEventListener('message', read);
      if (message.result) resolve(message.result);
      else reject(new Error(message.error?.message ?? 'no result'));
    };
    socket.addEventListener('message', read);
    socket.send(JSON.stringify({ id, method }));
  });
}
