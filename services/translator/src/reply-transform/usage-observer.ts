/** Reads beside a reply that passes what it used. Whatever it meets, the reply passes all the same. */
import type { Usage } from '@model-gateway/contracts';
import type { ChatEvent, ReplyReader, Target, UpstreamAdapter } from '@model-gateway/protocols';
import { createSseParser, Pieces } from '@model-gateway/stream-framing';
import type { Meter } from '../meter.ts';

/** A larger event holds files: it is not kept to be looked at. */
const maxEventBytes = 1024 * 1024;
/** Nor is a larger body. Callers can make one long (probabilities of words), and its usage comes last. */
const maxBodyBytes = 32 * 1024 * 1024;

type SseRecord = ReturnType<ReturnType<typeof createSseParser>['push']>[number];

interface ObservedReply {
  readonly family: UpstreamAdapter;
  readonly target: Target;
  readonly contentType: string;
  readonly meter: Pick<Meter, 'see'>;
}

const metered: ReadonlySet<ChatEvent['type']> = new Set<ChatEvent['type']>(['text-delta', 'arguments-delta', 'refusal-delta', 'thinking-delta', 'usage']);

export class UsageObserver {
  readonly #family: UpstreamAdapter;
  readonly #target: Target;
  readonly #isStream: boolean;
  readonly #meter: Pick<Meter, 'see'>;
  readonly #parser = createSseParser({ maxEventBytes });
  readonly #body = new Pieces();
  #size = 0;
  #reader: ReplyReader | undefined;
  #usage: Usage | null = null;
  /** By the reader of conversations, which tells more. */
  #counted = false;
  #over = false;

  /** `meter` sees the content of a stream while it passes, because not every stream has usage, or comes to its end. */
  constructor({ family, target, contentType, meter }: ObservedReply) {
    this.#family = family;
    this.#target = target;
    this.#meter = meter;
    this.#isStream = /^text\/event-stream\b/i.test(contentType);
    this.#over = !this.#isStream && !/json/i.test(contentType);
  }

  push(chunk: Uint8Array): void {
    if (this.#over) return;
    if (this.#isStream) return this.#guard(() => this.#read(this.#parser.push(chunk)));
    this.#size += chunk.length;
    this.#over = this.#size > maxBodyBytes;
    if (this.#over) this.#body.drop();
    else this.#body.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  }

  /** null: nothing that is known to be usage. */
  finish(): Usage | null {
    if (!this.#over) this.#guard(() => (this.#isStream ? this.#read(this.#parser.finish()) : this.#readBody()));
    return this.#usage;
  }

  #guard(read: () => void): void {
    try {
      read();
    } catch {
      this.#over = true;
    }
  }

  #readBody(): void {
    if (this.#size > 0) this.#usage = usageOf(JSON.parse(this.#body.take().toString('utf8')), this.#family, this.#target);
  }

  #read(records: readonly SseRecord[]): void {
    for (const { event, data } of records) {
      if (!data.startsWith('{')) continue;
      const json: unknown = JSON.parse(data);
      this.#reader ??= this.#family.createReader(this.#target);
      for (const seen of this.#reader.read({ event, data, json })) {
        if (metered.has(seen.type)) this.#meter.see([seen]);
        if (seen.type !== 'usage' || seen.estimated) continue;
        this.#usage = seen.usage;
        this.#counted = true;
      }
      if (!this.#counted) this.#usage = this.#family.readUnaryUsage?.(json) ?? this.#usage;
    }
  }
}

/** What a whole body says of its use: as a conversation's reply, else as the answer to one question. */
export function usageOf(json: unknown, family: UpstreamAdapter, target: Target): Usage | null {
  return readReply(json, family, target) ?? family.readUnaryUsage?.(json) ?? null;
}

function readReply(json: unknown, family: UpstreamAdapter, target: Target): Usage | null {
  try {
    let usage: Usage | null = null;
    for (const event of family.readWhole(json, target)) if (event.type === 'usage' && !event.estimated) ({ usage } = event);
    return usage;
  } catch {
    return null;
  }
}
