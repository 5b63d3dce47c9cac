/** An HTTP/2 upstream written frame by frame, so that a test can say what no library would: resets with any code, GOAWAY, silence. */
import { createServer, type TLSSocket } from 'node:tls';
import { cert, key } from './fixed-certificate.ts';
import { listen } from './servers.ts';

export const errorCodes = { none: 0, protocol: 1, internal: 2, refused: 7, cancel: 8, calm: 11 } as const;
const types = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, continuation: 9 } as const;
const endStream = 1;
const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

export interface FrameStream {
  id: number;
  /** Of its connection: 0 for the first. */
  connection: number;
  /** A reply of status 200 begins. */
  head(): void;
  /** A reply of status 200 begins, whose head has so many lines beside the status; the block is cut in the midst of a line. */
  longHead(lines: number): void;
  data(text: string, end?: boolean): void;
  reset(code: number): void;
  /** Ends the connection's life after the stream `last`. */
  goaway(code: number, last: number): void;
  /** Writes whatever bytes. */
  raw(bytes: Buffer): void;
  destroy(): void;
  /** The client has cut off the connection. */
  isGone(): boolean;
}

export interface FrameServer {
  port: number;
  connections: number;
  /** Streams that were opened, over all connections. */
  streams: FrameStream[];
  /** Codes of the resets that the client sent. */
  resets: number[];
  /** Whether pings are acknowledged, and requests seen; false: everything is swallowed. */
  awake: boolean;
}

function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const words = (...values: number[]): Buffer => {
  const out = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) out.writeUInt32BE(value, 4 * index);
  return out;
};

/** A line of a head as HPACK has it without its table; name and value are short. */
const literal = (name: string, value: string): Buffer =>
  Buffer.from(`\0${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`, 'latin1');

/** Sends its own SETTINGS when a client arrives: the most streams at once. */
const settings = (maxStreams: number): Buffer => Buffer.concat([Buffer.from([0, 3]), words(maxStreams)]);

/** `onStream` is called when a request is complete. `staysOpen`: the server does not close its half of a connection when the client has closed its own. */
export async function startFrameServer(onStream: (stream: FrameStream) => void, { maxStreams = 100, staysOpen = false } = {}): Promise<FrameServer> {
  const server = createServer({ key, cert, ALPNProtocols: ['h2'], allowHalfOpen: staysOpen });
  const state: FrameServer = { port: 0, connections: 0, streams: [], resets: [], awake: true };
  server.on('secureConnection', (socket) => serve(socket, state, onStream, maxStreams));
  state.port = (await listen(server)).port;
  return state;
}

function serve(socket: TLSSocket, state: FrameServer, onStream: (stream: FrameStream) => void, maxStreams: number): void {
  const connection = state.connections++;
  const send = (bytes: Buffer): void => void (socket.writable && socket.write(bytes));
  let held = Buffer.alloc(0);
  let begun = false;
  socket.on('error', () => {});
  send(frame(types.settings, 0, 0, settings(maxStreams)));

  const open = (id: number): FrameStream => ({
    id,
    connection,
    head: () => send(frame(types.headers, 4, id, Buffer.from([0x88]))),
    longHead(lines) {
      const block = Buffer.concat([Buffer.from([0x88]), ...Array.from({ length: lines }, (_, i) => literal(`x-${i}`, 'v'))]);
      send(Buffer.concat([frame(types.headers, 0, id, block.subarray(0, 100)), frame(types.continuation, 4, id, block.subarray(100))]));
    },
    data: (text, end = false) => send(frame(types.data, end ? endStream : 0, id, Buffer.from(text))),
    reset: (code) => send(frame(types.reset, 0, id, words(code))),
    goaway: (code, last) => send(frame(types.goaway, 0, 0, words(last, code))),
    raw: send,
    destroy: () => socket.destroy(),
    isGone() {
      // Whether the client has closed its half, or all of it, shows when something is written to it.
      send(frame(types.ping, 0, 0, Buffer.alloc(8)));
      return socket.destroyed;
    },
  });
  function take(type: number, flags: number, id: number, payload: Buffer): void {
    if (type === types.settings && !(flags & 1)) send(frame(types.settings, 1, 0));
    if (type === types.ping && !(flags & 1) && state.awake) send(frame(types.ping, 1, 0, payload));
    if (type === types.reset) state.resets.push(payload.readUInt32BE(0));
    if ((type !== types.headers && type !== types.data) || !(flags & endStream) || !state.awake) return;
    const stream = open(id);
    state.streams.push(stream);
    onStream(stream);
  }
  socket.on('data', (chunk) => {
    held = Buffer.concat([held, chunk]);
    if (!begun) {
      if (held.length < preface.length) return;
      if (held.subarray(0, preface.length).toString('latin1') !== preface) return void socket.destroy();
      begun = true;
      held = held.subarray(preface.length);
    }
    while (held.length >= 9 && held.length >= 9 + held.readUIntBE(0, 3)) {
      const end = 9 + held.readUIntBE(0, 3);
      take(held.readUInt8(3), held.readUInt8(4), held.readUInt32BE(5), held.subarray(9, end));
      held = held.subarray(end);
    }
  });
}
