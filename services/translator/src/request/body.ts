/** A request's body in the caller's protocol: its bytes, what the edge's scan found in them, and what is read of them, each at most once. */
import { type BodyKind, type Job, promptTokensByBytes, usualBytesPerToken } from '@model-gateway/contracts';
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import { type KnownPlaces, type Need, type Projected, type Projection, RepeatedKey } from '@model-gateway/json-bytes';
import { type ClientAdapter, type FormBody, type OpenPage, questionsOf, type ReadRequest, type StateHolder } from '@model-gateway/protocols';
import { promptTokens } from '../prompt-sizes.ts';
import { readFormBody } from './form-body.ts';

/** Bytes of a body that is too short to hold a file worth the look. */
const maxPlainBodyLength = 4096;

const isMarked = (holder: object): boolean => 'cache' in holder && holder.cache !== undefined;
const own = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? ((value as Record<string, unknown>)[key] ?? undefined) : undefined;

/** What the edge's scan found, and what it looked for. */
export interface FoundPlaces extends KnownPlaces {
  asked: readonly string[];
  words: readonly string[];
  files: Job['places']['files'];
}

/** What reading a body needs of its request. */
export interface BodySource {
  readonly job: Job;
  readonly client: ClientAdapter;
  /** Who holds what the body names. */
  readonly state?: StateHolder;
  /** Opens what searches of earlier turns found. */
  readonly openPage?: OpenPage;
}

/** The edge's scan judges the structure of a body, and not the text inside its strings. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new GatewayError('invalid_json', { cause });
  }
}

/** A longer key is not repeated to its caller: it may be as long as the body. */
const maxKeyLength = 100;

const repeated = (key = ''): { message: string; param?: string } =>
  key === '' || key.length > maxKeyLength ? { message: 'A key is given twice in one object.' } : { message: `The key "${key}" is given twice.`, param: key };

/** Immutable: another body is another object. Values read from it are shared by all attempts and never mutated. */
export class RequestBody {
  readonly bytes: Buffer;
  /** Where the edge found top-level values; undefined for bytes that are not the caller's own. */
  readonly places: FoundPlaces | undefined;
  readonly #source: BodySource;
  #parsed: { value: unknown } | undefined;
  #request: ReadRequest | undefined;
  #systemPrompt: string | undefined;
  #estimate: number | undefined;

  private constructor(source: BodySource, bytes: Buffer, places: FoundPlaces | undefined) {
    this.#source = source;
    this.bytes = bytes;
    this.places = places;
  }

  /** The body as its caller sent it. */
  static ofJob(source: BodySource, body: Uint8Array): RequestBody {
    const { id, keys, words } = questionsOf(source.client);
    const { questions, values, end, words: there, files } = source.job.places;
    const places = questions === id ? { keys, values, end, asked: words, words: there, files } : undefined;
    return new RequestBody(source, Buffer.from(body.buffer, body.byteOffset, body.byteLength), places);
  }

  /** The same request with other bytes in the caller's protocol; this body where they are its own. */
  withBody(bytes: Buffer): RequestBody {
    return bytes === this.bytes ? this : new RequestBody(this.#source, bytes, undefined);
  }

  /** The same body, of which this one holds the turns and items that it names. */
  heldBy(state: StateHolder): RequestBody {
    const held = new RequestBody({ ...this.#source, state }, this.bytes, this.places);
    held.#parsed = this.#parsed;
    return held;
  }

  get state(): StateHolder | undefined {
    return this.#source.state;
  }

  get kind(): BodyKind {
    return this.#source.job.body ?? 'json';
  }

  /** The content type that the caller gave it. */
  get contentType(): string {
    return this.#source.job.headers['content-type'] ?? '';
  }

  /** The body as a form. Throws GatewayError invalid_request for what is none. */
  form(): FormBody {
    return readFormBody(this.bytes, this.contentType);
  }

  /** The body as JSON. */
  parse(): unknown {
    this.#parsed ??= { value: parseJson(this.bytes.toString('utf8')) };
    return this.#parsed.value;
  }

  /** As much of the body as `projection` asks for. A repeated key that it looks into is a 400: the upstream might read its other value. */
  project(projection: Projection, more: readonly Need[]): Projected {
    try {
      return projection.read(this.bytes, more);
    } catch (cause) {
      if (cause instanceof RepeatedKey) throw new GatewayError('duplicate_key', repeated(cause.key));
      throw new GatewayError('invalid_json', { cause });
    }
  }

  /** The canonical request. */
  readRequest(): ReadRequest {
    this.#request ??= this.#read();
    return this.#request;
  }

  /**
   * The leading system text as the caller's protocol gives it, its parts on lines of their own; '' without one, and for a body that only the
   * upstream can make sense of. Reading for this alone loses nothing: the bytes may still pass as they are.
   */
  systemPrompt(): string {
    if (this.#systemPrompt === undefined) {
      try {
        const { conversation } = this.#request ?? this.#read();
        this.#systemPrompt = conversation.system.map(({ text }) => text).join('\n');
      } catch (error) {
        if (!isGatewayError(error)) throw error;
        this.#systemPrompt = '';
      }
    }
    return this.#systemPrompt;
  }

  #read(): ReadRequest {
    const { job, client, state, openPage } = this.#source;
    return client.readRequest(this.parse(), {
      path: job.path,
      operation: job.operation,
      model: job.requestedModel,
      streamForm: job.streamForm,
      headers: job.headers,
      ...(state && { state }),
      ...(openPage && { openPage }),
    });
  }

  /** A top-level value, or the text of a form's field: by the place that the edge noted, else by parsing the whole. undefined when absent or null. */
  topLevel(key: string): unknown {
    if (this.kind !== 'json') return this.kind === 'form' ? this.form().fields.find(({ name }) => name === key)?.value : undefined;
    if (!this.places?.keys.includes(key)) return own(this.parse(), key);
    const { values } = this.places;
    const place = Object.hasOwn(values, key) ? values[key] : undefined;
    return place && (parseJson(this.bytes.toString('utf8', place.start, place.end)) ?? undefined);
  }

  /** The JSON bytes of a top-level value; undefined when absent. */
  valueBytes(key: string): Buffer | undefined {
    if (!this.places?.keys.includes(key)) {
      const value = own(this.parse(), key);
      return value === undefined ? undefined : Buffer.from(JSON.stringify(value), 'utf8');
    }
    const place = Object.hasOwn(this.places.values, key) ? this.places.values[key] : undefined;
    return place && this.bytes.subarray(place.start, place.end);
  }

  /** Whether the caller marked anything for caching. */
  hasCacheMarks(): boolean {
    const { system, tools, turns } = this.readRequest().conversation;
    return system.some(isMarked) || tools.some(isMarked) || turns.some((turn) => turn.parts.some(isMarked));
  }

  /** Tokens of a prompt that nobody counted. A short body is taken by its bytes; in a longer one, files may be most of it, and they are not text. */
  estimateTokens(): number {
    this.#estimate ??= this.#estimateTokens();
    return this.#estimate;
  }

  /** The same for the limits of an upstream, before every attempt: the edge's look at files saves reading a body that nothing else reads. */
  limitTokens(): number {
    if (this.#estimate !== undefined || !this.places) return this.estimateTokens();
    return promptTokensByBytes(this.bytes.length, this.places);
  }

  #estimateTokens(): number {
    if (this.kind !== 'json') return promptTokensByBytes(this.bytes.length, this.#source.job.places);
    const { length } = this.bytes;
    if (length <= maxPlainBodyLength) return Math.ceil(length / usualBytesPerToken);
    try {
      return promptTokens((this.#request ?? this.#read()).conversation, length);
    } catch {
      // A body that only its upstream can make sense of has a row all the same.
      return Math.ceil(length / usualBytesPerToken);
    }
  }
}
