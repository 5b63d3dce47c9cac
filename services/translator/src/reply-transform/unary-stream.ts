/** The answer to one question as it comes: read from the upstream's events, written in the caller's protocol piece by piece. */
import type { ChatEvent, ReplyReader, StreamRecord, UnaryReplyContext, UnaryStreamWriter, UnaryUpstreamCodec } from '@model-gateway/protocols';
import type { ReplyTransform } from './reply-transform.ts';
import { content } from './unary-reader.ts';

type ReadEvent = NonNullable<UnaryUpstreamCodec<unknown, unknown, unknown>['readEvent']>;

export class UnaryStream {
  /** Figures may follow the last piece, so that the end is that of the body. */
  readonly reader: ReplyReader = { steady: false, read: (record) => this.#read(record), finish: () => this.#finish() };
  readonly transform: ReplyTransform = {
    record: () => this.#take(),
    finish: () => this.#writer.end(this.#context()),
    whole() {
      throw new Error('a stream is not a whole reply');
    },
  };
  readonly #readEvent: ReadEvent;
  readonly #writer: UnaryStreamWriter<unknown>;
  readonly #context: () => UnaryReplyContext;
  #begun = false;
  #ended = false;
  #failed = false;
  #last: unknown;
  /** What the record that was read last holds for the caller. */
  #written: Uint8Array = nothing;

  /** `context`: asked for at the end, when the figures are known. */
  constructor(readEvent: ReadEvent, writer: UnaryStreamWriter<unknown>, context: () => UnaryReplyContext) {
    this.#readEvent = readEvent;
    this.#writer = writer;
    this.#context = context;
  }

  /** Known with the first piece; undefined also for forms whose streams all have the same. */
  get contentType(): string | undefined {
    return this.#writer.contentType;
  }

  /** The last event of a stream without pieces: it has the shape of a whole answer. undefined: pieces came, or a failure. */
  get unread(): unknown {
    return this.#begun || this.#failed ? undefined : this.#last;
  }

  #read({ json, event }: StreamRecord): ChatEvent[] {
    if (json === undefined) return [];
    const { pieces, usage, ended, fault } = this.#readEvent(json, event);
    if (fault) {
      this.#failed = true;
      return [{ type: 'error', error: fault }];
    }
    this.#last = json;
    this.#ended ||= ended === true;
    this.#begun ||= pieces.length > 0;
    this.#written = Buffer.concat(pieces.map((piece) => asBytes(this.#writer.write(piece))));
    return [...(this.#written.length > 0 ? [content] : []), ...(usage ? [{ type: 'usage' as const, usage }] : [])];
  }

  #take(): Uint8Array {
    const written = this.#written;
    this.#written = nothing;
    return written;
  }

  #finish(): ChatEvent[] {
    return this.#begun && this.#ended ? [{ type: 'finish', reason: 'stop' }, { type: 'end' }] : [];
  }
}

const nothing = new Uint8Array();

const asBytes = (written: string | Uint8Array): Uint8Array => (typeof written === 'string' ? Buffer.from(written, 'utf8') : written);
