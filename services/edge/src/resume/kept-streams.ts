/** The streams that this edge keeps: by id, within bounds of time and memory, for readers of this edge and of others. */
import type { Bus, Disposable, ServerStream } from '@model-gateway/bus';
import type { EdgeConfig } from '@model-gateway/config';
import type { StreamTakeUp } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Logger } from '@model-gateway/telemetry';
import { KeptStream, type KeptStreamHost, type StreamFacts } from './kept-stream.ts';
import { EdgeReader } from './readers.ts';
import { mintProcessName, mintStreamId } from './stream-id.ts';

/** How often streams without a reader are looked after for a key that was revoked meanwhile. */
const accessCheckMs = 1000;
/** What is held of a stream beside its events. */
const perStream = 2048;

type Settings = Pick<EdgeConfig, 'resumeMs' | 'resumeBytes' | 'resumeTotalBytes'>;

interface Kept {
  stream: KeptStream;
  /** Whether its caller would still be let in. */
  mayStay(): boolean;
}

export class KeptStreams implements KeptStreamHost {
  /** The name under which this edge serves its streams. */
  readonly process = mintProcessName();
  readonly #settings: Settings;
  readonly #logger: Logger;
  readonly #byId = new Map<string, Kept>();
  /** Without a reader, the longest first. */
  readonly #orphans = new Set<KeptStream>();
  #bytes = 0;
  #idle: (() => void)[] = [];

  constructor(settings: Settings, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
  }

  get size(): number {
    return this.#byId.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get resumeMs(): number {
    return this.#settings.resumeMs;
  }

  get maxBytes(): number {
    return this.#settings.resumeBytes;
  }

  mintId(owner: string): string {
    return mintStreamId(this.process, owner);
  }

  keep(facts: StreamFacts, mayStay: () => boolean): KeptStream {
    const stream = new KeptStream(facts, this);
    this.#byId.set(facts.id, { stream, mayStay });
    this.#bytes += perStream;
    return stream;
  }

  find(id: string): KeptStream | undefined {
    return this.#byId.get(id)?.stream;
  }

  /** Serves the streams to all edges, this one too. */
  serve(bus: Bus): Disposable {
    const serving = bus.serveAs(this.process, {
      'edge.stream': (request, _body, call) => this.#takeUp(request, call),
    });
    const checks = setInterval(() => this.#checkAccess(), accessCheckMs).unref();
    return {
      async dispose() {
        clearInterval(checks);
        await serving.dispose();
      },
    };
  }

  /** Resolves when no run is under way that has no connection of its own. */
  async finished(): Promise<void> {
    while ([...this.#byId.values()].some(({ stream }) => stream.live)) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** The process leaves. */
  close(): void {
    for (const { stream } of [...this.#byId.values()]) stream.destroy();
  }

  grew(stream: KeptStream, bytes: number): void {
    this.#bytes += bytes;
    if (bytes > 0) this.#makeRoomFor(stream);
  }

  orphaned(stream: KeptStream): void {
    this.#orphans.delete(stream);
    this.#orphans.add(stream);
    this.#makeRoomFor(stream);
  }

  adopted(stream: KeptStream): void {
    this.#orphans.delete(stream);
  }

  dropped(stream: KeptStream): void {
    this.#orphans.delete(stream);
    if (this.#byId.delete(stream.id)) this.#bytes -= perStream;
  }

  ended(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Too much is held: the streams that were left by their callers first go, the longest left first; then the grown one's own oldest events. */
  #makeRoomFor(stream: KeptStream): void {
    const limit = this.#settings.resumeTotalBytes;
    for (const orphan of this.#orphans) {
      if (this.#bytes <= limit) return;
      this.#logger.warn({ bytes: this.#bytes, streams: this.#byId.size }, 'a stream without a reader was dropped: the kept streams hold too much');
      if (orphan.live && !orphan.background) orphan.destroy();
      else orphan.drop();
    }
    if (this.#bytes > limit) stream.shrinkTo(Math.max(0, stream.bytes - (this.#bytes - limit)));
  }

  #takeUp({ stream: id, owner, after, number, look }: StreamTakeUp, call: ServerStream<'edge.stream'>): void {
    const stream = this.#byId.get(id)?.stream;
    // Whose id it is was checked by its digest; what is not here any more was.
    if (!stream) throw new GatewayError('stream_gone');
    if (stream.owner !== owner) throw new GatewayError('not_found');
    const offset = number === undefined ? stream.offsetAfter(after ?? 0) : stream.offsetAfterNumber(number);
    if (offset === 'later') throw new GatewayError('invalid_request', { message: 'The stream has not come so far yet.' });
    if (offset === null) throw new GatewayError('stream_gone', { message: 'The events after this one are no longer kept.' });
    const reader = new EdgeReader(call, stream);
    if (look) return reader.look(stream.statusCode, stream.headers);
    stream.attach(reader, offset);
  }

  /** Runs that nobody reads, or that have no caller, end with the key that they were asked for with. */
  #checkAccess(): void {
    for (const { stream, mayStay } of [...this.#byId.values()]) {
      if (stream.hasReader && !stream.background) continue;
      if (!mayStay()) stream.destroy();
    }
  }
}
