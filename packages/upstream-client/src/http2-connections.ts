/** The HTTP/2 connections to one origin: calls share them up to the server's limit, and a connection that ends or falls silent is replaced. */
import { type ClientHttp2Session, connect } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import { DialError } from './fault.ts';
import { noteGoaway, type SentRequest, sendOnSession } from './http2-stream.ts';
import type { UpstreamCall } from './upstream-call.ts';

/** Streams on one connection; a server's own smaller limit wins. Beyond it calls get another connection. */
const maxStreams = 100;
/** Each connection is pinged so often, calls under way or not: a living peer has to acknowledge. */
const pingEveryMs = 15_000;
/** Without one byte for so many pings the connection is dead. */
const silentPings = 4;
/** A connection that is over is cut off after this: Node waits for the peer to close its half, who may never do so. */
const closeDelayMs = 1000;
const streamWindow = 256 * 1024;
const connectionWindow = 1024 * 1024;

/**
 * Where Node would break replies that HTTP/1.1 takes: a head of more than 128 lines (its bytes are bounded, `maxHeaderBytes`), and a connection
 * with all its replies once 1000 empty DATA frames have come, as servers send them that flush.
 */
const unlimited = { maxHeaderListPairs: 64 * 1024, maxSessionInvalidFrames: 0xffff_ffff };

export interface Http2Options {
  origin: string;
  /** Opens a connection on which HTTP/2 was offered; `dialing` gets its socket before it is open. */
  dial(dialing: (socket: Socket) => void, opened: buildConnector.Callback): void;
  maxConnections: number;
  /** A connection without calls is closed after this. */
  idleMs: number;
  /** The origin chose HTTP/1.1: `socket` is open, and `waiting` are the calls that wait. Nothing is asked of this object any more. */
  declined(socket: Socket, waiting: readonly Waiting[]): void;
}

export interface Waiting {
  request: SentRequest;
  call: UpstreamCall;
  connectMs: number;
}
interface Entry extends Waiting {
  /** It was given back unread once. */
  repeated: boolean;
}

interface Connection {
  session: ClientHttp2Session;
  socket: Socket;
  /** The server has said how many calls it takes; until then it has one. */
  settled: boolean;
  /** Calls on it. */
  open: number;
  /** Runs while it has none, until it is closed; then until it is cut off. */
  idle: NodeJS.Timeout | undefined;
}

export class Http2Connections {
  readonly #options: Http2Options;
  readonly #authority: string;
  readonly #connections = new Set<Connection>();
  #waiting: Entry[] = [];
  #dialing = 0;
  /** The origin is known to speak HTTP/2; before, one connection at a time finds out. */
  #known = false;
  /** How many streams a further connection is expected to take: what the server said last. */
  #expectedStreams = maxStreams;
  #closed: (() => void) | undefined;

  constructor(options: Http2Options) {
    this.#options = options;
    this.#authority = new URL(options.origin).host;
  }

  /** Connections that are open. */
  get size(): number {
    return this.#connections.size;
  }

  dispatch(waiting: Waiting): void {
    this.#enter({ ...waiting, repeated: false });
  }

  /** Takes no more calls; resolves when those under way have ended. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#closed = resolve;
      for (const connection of [...this.#connections]) if (connection.open === 0) this.#end(connection);
      this.#settle();
    });
  }

  #settle(): void {
    if (this.#closed && this.#connections.size === 0 && this.#dialing === 0) this.#closed();
  }

  #enter(entry: Entry): void {
    const connection = this.#free();
    if (connection) return this.#send(connection, entry);
    this.#waiting.push(entry);
    this.#dialForWaiting();
  }

  #free(): Connection | undefined {
    for (const one of this.#connections) if (one.open < capacityOf(one)) return one;
    return undefined;
  }

  #dialForWaiting(): void {
    const { maxConnections } = this.#options;
    for (;;) {
      this.#waiting = this.#waiting.filter(({ call }) => !call.ended);
      const first = this.#waiting[(this.#dialing + this.#unsettled()) * this.#expectedStreams];
      const isAllowed = this.#known ? this.#connections.size + this.#dialing < maxConnections : this.#dialing === 0;
      if (first === undefined || !isAllowed) return this.#settle();
      this.#dial(first.connectMs);
    }
  }

  /** Connections that will take more as soon as their servers have said how much. */
  #unsettled(): number {
    let count = 0;
    for (const { session, settled } of this.#connections) if (!settled && !session.closed) count++;
    return count;
  }

  #dial(connectMs: number): void {
    let dialled: Socket | undefined;
    let over = false;
    this.#dialing++;
    const opened: buildConnector.Callback = (error, socket) => {
      if (over) return void socket?.destroy();
      over = true;
      clearTimeout(late);
      this.#dialing--;
      if (error || !socket) this.#failWaiting(error ?? new Error('no socket'));
      else if ((socket as TLSSocket).alpnProtocol === 'h2') this.#connected(socket as Socket);
      else this.#options.declined(socket as Socket, this.#waiting.splice(0));
      this.#settle();
    };
    const late = setTimeout(() => {
      dialled?.on('error', () => {}).destroy();
      opened(new DialError('timeout', 'connect', `no connection in ${connectMs} ms`), null);
    }, connectMs);
    this.#options.dial((socket) => {
      dialled = socket;
    }, opened);
  }

  /** Fails all calls that waited for this connection; later ones dial anew. */
  #failWaiting(error: Error): void {
    for (const { call } of this.#waiting.splice(0)) call.onResponseError(null, error);
  }

  #connected(socket: Socket): void {
    this.#known = true;
    const session = connect(this.#options.origin, {
      createConnection: () => socket,
      peerMaxConcurrentStreams: maxStreams,
      settings: { enablePush: false, initialWindowSize: streamWindow },
      ...unlimited,
    });
    noteGoaway(session);
    const connection: Connection = { session, socket, settled: false, open: 0, idle: undefined };
    this.#connections.add(connection);
    const gone = (): void => {
      clearTimeout(connection.idle);
      if (!this.#connections.delete(connection)) return;
      this.#dialForWaiting();
      this.#settle();
    };
    session.once('connect', () => {
      if (!session.destroyed) session.setLocalWindowSize(connectionWindow);
    });
    // Its calls learn it from their streams.
    session.on('error', () => {});
    // It finishes what it has and takes no more.
    session.on('goaway', () => {
      if (connection.open === 0) this.#cutOffSoon(connection);
      this.#serveWaiting();
    });
    session.on('close', gone);
    session.on('remoteSettings', () => {
      connection.settled = true;
      this.#expectedStreams = Math.max(1, streamsOf(session));
      this.#serveWaiting();
    });
    watchSilence(session, socket);
    this.#idle(connection);
    this.#serveWaiting();
  }

  #serveWaiting(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#free();
      if (connection === undefined) break;
      const entry = this.#waiting.shift() as Entry;
      if (!entry.call.ended) this.#send(connection, entry);
    }
    this.#dialForWaiting();
  }

  #send(connection: Connection, entry: Entry): void {
    clearTimeout(connection.idle);
    connection.open++;
    sendOnSession(connection.session, { ...entry, mayRepeat: !entry.repeated }, this.#authority, (how) => {
      connection.open--;
      // Nobody read it: it goes out once more, behind no one else.
      if (how === 'unread') this.#waiting.unshift({ ...entry, repeated: true });
      if (connection.open === 0) this.#idle(connection);
      if (this.#waiting.length > 0) this.#serveWaiting();
      this.#settle();
    });
  }

  #idle(connection: Connection): void {
    const { session } = connection;
    if (this.#closed || session.closed || session.destroyed) return this.#end(connection);
    clearTimeout(connection.idle);
    connection.idle = setTimeout(() => this.#end(connection), this.#options.idleMs).unref();
  }

  #end(connection: Connection): void {
    connection.session.close();
    this.#cutOffSoon(connection);
  }

  #cutOffSoon(connection: Connection): void {
    clearTimeout(connection.idle);
    connection.idle = setTimeout(() => connection.socket.destroy(), closeDelayMs).unref();
  }
}

/** How many streams a connection takes at once; none once it is on its way out. */
function capacityOf({ session, settled }: Connection): number {
  if (session.closed || session.destroyed) return 0;
  if (!settled) return 1;
  return streamsOf(session);
}

/** As the server's newest settings say. */
const streamsOf = ({ remoteSettings }: ClientHttp2Session): number => Math.min(maxStreams, remoteSettings?.maxConcurrentStreams ?? maxStreams);

/**
 * Destroys a connection on which nothing came for `silentPings` pings. Over HTTP/1.1 a call that times out takes its connection along; here
 * the connection of a peer that is frozen would be given to one call after the other.
 */
export function watchSilence(session: ClientHttp2Session, socket: Socket, everyMs = pingEveryMs): void {
  let seen = -1;
  let silent = 0;
  const timer = setInterval(() => {
    if (session.destroyed) return clearInterval(timer);
    silent = socket.bytesRead === seen ? silent + 1 : 0;
    seen = socket.bytesRead;
    if (silent < silentPings) return void session.ping(() => {});
    session.destroy(new Error('nothing came from the upstream, not even the acknowledgement of a ping'));
    // What it does not read would never be written.
    socket.destroy();
  }, everyMs).unref();
  session.once('close', () => clearInterval(timer));
}
