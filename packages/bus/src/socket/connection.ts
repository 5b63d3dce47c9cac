/** One connection between two processes: frames, signs of life, and the streams and questions that cross it. */
import type { Socket } from 'node:net';
import type { Deadlines } from '../kit/deadlines.ts';
import type { InFlight } from '../kit/in-flight.ts';
import type { BusLogger } from '../kit/logger.ts';
import type { MessageReader } from '../kit/message-reader.ts';
import { SocketAsks } from './asks.ts';
import { jsonOf, readJson, type SocketStreamHost } from './host.ts';
import { SocketStreams } from './streams.ts';
import { type WireFrame, WireReader, wireKind, writeWire } from './wire.ts';

/** How often this end shows that it lives. */
const pingMs = 500;
/** As long as over NATS: after this much silence the other process counts as gone. */
export const silenceMs = 2500;

/** What a connection needs of its bus. */
export interface ConnectionHost {
  readonly logger: BusLogger;
  readonly reader: MessageReader;
  readonly deadlines: Deadlines;
  readonly calls: InFlight;
  readonly served: InFlight;
  droppedBefore(frames: number): void;
  /** Whether the frame is of a stream between two other processes, and was passed on. */
  relay?(from: Connection, frame: WireFrame): boolean;
  /** The other end has said what it serves. */
  offered?(connection: Connection): void;
  /** Frames that are neither of this end's streams nor of its questions. */
  receive(from: Connection, frame: WireFrame): void;
  /** The other process is gone; called once. */
  lost(connection: Connection): void;
}

/** What the other end serves and listens to. */
export interface Offers {
  /** Of its process, in logs. */
  name: string;
  places: string[];
  events: string[];
}

/** One connection. `parity`: the two ends have different ones. */
export class Connection implements SocketStreamHost {
  readonly streams: SocketStreams;
  readonly asks: SocketAsks;
  offers: { name: string; places: ReadonlySet<string>; events: ReadonlySet<string> } = { name: '', places: new Set(), events: new Set() };
  closed = false;
  private readonly socket: Socket;
  private readonly host: ConnectionHost;
  private readonly input = new WireReader();
  /** 0: something arrived since the last tick. Of the bus's clock, which does not count this process's own stalls. */
  private silentSince = 0;
  private pingedAt = 0;
  private readonly trips = new Map<number, () => void>();
  private trip = 0;
  private corked = false;

  constructor(socket: Socket, host: ConnectionHost, parity: 0 | 1) {
    this.socket = socket;
    this.host = host;
    this.streams = new SocketStreams(this, parity);
    this.asks = new SocketAsks(this, () => this.streams.mint());
    socket.on('data', (piece: Buffer) => this.read(piece));
    socket.on('error', (error) => host.logger.warn({ error }, 'the connection to another process of this gateway failed'));
    socket.on('close', () => this.close());
  }

  get logger(): BusLogger {
    return this.host.logger;
  }
  get reader(): MessageReader {
    return this.host.reader;
  }
  get deadlines(): Deadlines {
    return this.host.deadlines;
  }
  get calls(): InFlight {
    return this.host.calls;
  }
  get served(): InFlight {
    return this.host.served;
  }

  droppedBefore(frames: number): void {
    this.host.droppedBefore(frames);
  }

  /** Frames of one turn leave in one write. */
  send(kind: number, number: number, payload?: Uint8Array, marks?: number): void {
    if (this.closed) return;
    if (!this.corked) {
      this.corked = true;
      this.socket.cork();
      process.nextTick(() => {
        this.corked = false;
        this.socket.uncork();
      });
    }
    this.socket.write(writeWire(kind, number, payload, marks));
  }

  flushed(callback: () => void): void {
    if (!this.closed) this.socket.write(Buffer.alloc(0), callback);
  }

  offer(offers: Offers): void {
    this.send(wireKind.offers, 0, jsonOf(offers));
  }

  /** Resolves when the other end has read what was sent so far. */
  roundTrip(): Promise<void> {
    return new Promise((resolve) => {
      this.trips.set(++this.trip, resolve);
      this.send(wireKind.ping, this.trip);
    });
  }

  /** `now`: awake time of this process. */
  tick(now: number): void {
    if (this.silentSince === 0) this.silentSince = now;
    if (now - this.silentSince > silenceMs) {
      this.logger.warn({ process: this.offers.name, silenceMs }, 'another process of this gateway is silent and counts as gone');
      this.close();
    } else if (now - this.pingedAt >= pingMs) {
      this.pingedAt = now;
      this.send(wireKind.ping, 0);
    }
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.socket.destroy();
    this.asks.loseAll();
    this.streams.loseAll('the connection to the other process was lost');
    this.host.lost(this);
  }

  /** What was sent leaves before the connection ends. */
  end(): Promise<void> {
    return new Promise((resolve) => this.socket.end(resolve));
  }

  private read(piece: Buffer): void {
    this.silentSince = 0;
    try {
      this.input.add(piece, (frame) => this.take(frame));
    } catch (error) {
      this.logger.error({ error }, 'a frame of another process could not be read: its connection is closed');
      this.close();
    }
  }

  private take(frame: WireFrame): void {
    const { kind } = frame;
    if (kind >= wireKind.stream || kind === wireKind.ready || kind === wireKind.go) {
      if (!this.host.relay?.(this, frame)) this.streams.receive(frame);
    } else if (kind === wireKind.answer || kind === wireKind.askError) this.asks.receive(frame);
    else if (kind === wireKind.ping) this.send(wireKind.pong, frame.number);
    else if (kind === wireKind.pong) {
      this.trips.get(frame.number)?.();
      this.trips.delete(frame.number);
    } else if (kind === wireKind.offers) {
      const { name, places, events } = readJson(frame.payload) as Offers;
      this.offers = { name, places: new Set(places), events: new Set(events) };
      this.host.offered?.(this);
    } else this.host.receive(this, frame);
  }
}
