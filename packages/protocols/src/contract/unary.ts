/** Operations of one question and one answer, beside the conversation: embeddings, rerank, moderation. */

import type { Loss, Operation, StreamForm, Usage } from '@model-gateway/contracts';
import type { UpstreamFault } from '../chat/event.ts';
import type { Speech, SpeechPiece, SpeechRequest, Transcription, TranscriptionPiece, TranscriptionRequest } from './audio.ts';
import type { FormBody, FormFile } from './form.ts';
import type { Images, ImagesRequest } from './images.ts';
import type { WriteRequestContext } from './request-codec.ts';
import type { Target, UpstreamRequest } from './target.ts';

/** One input of an embeddings request: its text, or the tokens of it by the caller's own tokenizer. */
export type EmbeddingInput = { text: string } | { tokens: readonly number[] };

/** A caller's request for vectors. */
export interface EmbeddingsRequest {
  inputs: readonly EmbeddingInput[];
  /** Numbers, or base64 of little-endian 32-bit floats: answers have the form that was asked for. */
  format: 'float' | 'base64';
  /** Of each vector; undefined: the model's own. */
  dimensions?: number;
  /** What the vectors are for, where the caller says so in words that other vendors have too. */
  purpose?: 'query' | 'document';
  /** Several forms at once, where callers may ask for them; absent: `format`. */
  types?: readonly ('float' | 'base64')[];
  /** What a caller in Cohere's shape said beside this, by its field: for an upstream of that shape. */
  ofVendor?: Readonly<Record<string, unknown>>;
  /** Asked for by itself, not in a list. */
  single?: boolean;
}

/** The vectors, in the order of the inputs. */
export interface Embeddings {
  vectors: readonly (readonly number[])[];
}

/** A caller's request to order documents. */
export interface RerankRequest {
  query: string;
  /** Texts, or objects as the caller wrote them (`{ text }`, `{ image }`). */
  documents: readonly (string | Readonly<Record<string, unknown>>)[];
  topN?: number;
  /** Answers repeat the documents. */
  returnDocuments: boolean;
  /** What else the caller said: for an upstream of the same family. */
  others: Readonly<Record<string, unknown>>;
}

/** One document of an answer: its place in the request, and how relevant it is. */
export interface RankedDocument {
  index: number;
  score: number;
  document?: Readonly<Record<string, unknown>>;
}

/** Documents by relevance, the most relevant first. */
export interface Ranking {
  id?: string;
  results: readonly RankedDocument[];
  /** What the vendor bills, where it counts no tokens. */
  searchUnits?: number;
}

/** What the figures and the names of an answer are. */
export interface UnaryReplyContext {
  /** The name the caller used. */
  model: string;
  usage: Usage | null;
  /** Seconds since the epoch. */
  now: number;
  mintId(prefix: string): string;
}

/** A whole reply that is not JSON, or has a content type of its own. */
export interface UnaryBody {
  body: string | Uint8Array;
  contentType: string;
}

/** What was fetched from an address: its bytes as standard base64. */
export interface FetchedMedia {
  mimeType: string;
  data: string;
}

/** Writes an answer as it comes. */
export interface UnaryStreamWriter<Piece> {
  /** Of the whole stream; known with its first piece. undefined: that of all streams of the caller's form. */
  readonly contentType: string | undefined;
  write(piece: Piece): string | Uint8Array;
  /** What follows the last piece. */
  end(context: UnaryReplyContext): string;
}

/** A caller's side of one operation. `Piece`: of an answer that comes as a stream. */
export interface UnaryClientCodec<Request, Reply, Piece = never> {
  /** Throws GatewayError invalid_request naming the field. */
  readRequest(body: unknown): { request: Request; losses: Loss[] };
  /** The same of a form. Absent: the operation takes none. */
  readForm?(form: FormBody): { request: Request; losses: Loss[] };
  /** Addresses in an upstream's reply whose bytes this caller is to get; they are fetched, and `withFiles` puts them in. Absent: none. */
  addresses?(reply: Reply, request: Request): readonly string[];
  withFiles?(reply: Reply, files: ReadonlyMap<string, FetchedMedia>): Reply;
  /** A JSON value to print, or a body as it is. */
  writeReply(reply: Reply, request: Request, context: UnaryReplyContext): unknown;
  /** The reply as its caller wants it, where that is not valid JSON; undefined: it is. */
  writeBody?(reply: Reply, request: Request, context: UnaryReplyContext): UnaryBody | undefined;
  /** The whole stream of events, for a caller who asked for a stream of what an upstream gives whole. */
  writeStream?(reply: Reply, request: Request, context: UnaryReplyContext): string;
  /** For a caller who asked for a stream of what an upstream gives piece by piece. Absent: answers are written whole. */
  createWriter?(request: Request, form: StreamForm): UnaryStreamWriter<Piece>;
}

/** An answer; or, in a body that is no error by its status, why there is none. */
export type UnaryReply<Reply> = { reply: Reply; usage: Usage | null } | { fault: UpstreamFault; usage: Usage | null };

/** What one event of an upstream's stream says. */
export interface UnaryEvent<Piece> {
  pieces: readonly Piece[];
  /** Of the whole answer so far; absent: the event does not say. */
  usage?: Usage | null;
  /** The answer is complete; figures may follow. */
  ended?: boolean;
  /** The upstream failed. */
  fault?: UpstreamFault;
}

/** Where a file is uploaded to, and how it is named from then on. */
export interface UploadPlace {
  url: string;
  /** Of the form, before the file. */
  fields: readonly (readonly [name: string, value: string])[];
  address: string;
  maxBytes?: number;
}

/** How a file gets into the storage of a vendor whose models read by address alone. */
export interface UnaryUpload<Request> {
  /** What has to be uploaded; undefined: nothing. */
  file(request: Request, target: Target): FormFile | undefined;
  /** Asks where to. */
  request(target: Target): UpstreamRequest;
  /** Throws for a body that names no place. `name`: of the file in that storage. */
  readPlace(body: unknown, name: string): UploadPlace;
  withAddress(request: Request, address: string): Request;
}

/** An upstream's side of one operation. `Piece`: of an answer that comes as a stream. */
export interface UnaryUpstreamCodec<Request, Reply, Piece = never> {
  /** Throws GatewayError invalid_request for what the upstream cannot be asked. */
  writeRequest(request: Request, context: WriteRequestContext): { body: unknown; losses: Loss[] };
  /** Throws for a body that is not an answer to the request. `usage` null: the upstream does not say. `file`: the JSON at `replyAddress`. */
  readReply(body: unknown, request: Request, file?: unknown): UnaryReply<Reply>;
  /** Whether the call begins a task (`tasks` of the adapter), whose end has the answer. Absent: it never does. */
  isTask?(target: Target): boolean;
  /** Where a reply says that the rest of it is, as JSON. Absent: nowhere. */
  replyAddress?(body: unknown): string | undefined;
  /** Absent: files are sent inside the request. */
  upload?: UnaryUpload<Request>;
  /** The request as several, where the upstream takes or makes less at once; they are sent one after the other. Absent: it is one. */
  split?(request: Request, target: Target): readonly Request[];
  /** The replies to the parts of a request, in their order, as one. */
  join?(replies: readonly Reply[]): Reply;
  /** Addresses in the request that this upstream does not open by itself; what the operator lets the gateway fetch, `withFiles` puts in. Absent: none. */
  addresses?(request: Request): readonly string[];
  withFiles?(request: Request, files: ReadonlyMap<string, FetchedMedia>): Request;
  /**
   * One event of the stream that the upstream is asked for where its caller asked for one. A stream without pieces is read by `readReply`, out of its last
   * event. Absent: it is asked for whole answers alone.
   */
  readEvent?(event: unknown, name: string | undefined): UnaryEvent<Piece>;
}

/** What is asked and answered by each operation that has a translation. */
export interface UnaryExchanges {
  embed: { request: EmbeddingsRequest; reply: Embeddings };
  rerank: { request: RerankRequest; reply: Ranking };
  image: { request: ImagesRequest; reply: Images };
  'image-edit': { request: ImagesRequest; reply: Images };
  'image-variation': { request: ImagesRequest; reply: Images };
  speech: { request: SpeechRequest; reply: Speech; piece: SpeechPiece };
  transcribe: { request: TranscriptionRequest; reply: Transcription; piece: TranscriptionPiece };
  'translate-speech': { request: TranscriptionRequest; reply: Transcription; piece: TranscriptionPiece };
}

/** Of the answer to an operation that comes as a stream. */
type PieceOf<K extends keyof UnaryExchanges> = UnaryExchanges[K] extends { piece: infer Piece } ? Piece : never;

/** Operations that a protocol's callers may ask for. */
export interface ClientUnary {
  unary?: { [K in keyof UnaryExchanges]?: UnaryClientCodec<UnaryExchanges[K]['request'], UnaryExchanges[K]['reply'], PieceOf<K>> };
}

/** A reply that passes as bytes, or whose body has no figures, and the request that it answers. */
export interface BytesContext {
  operation: Operation;
  /** Of the reply. */
  contentType: string;
  /** A top-level value of the request; undefined when it is absent or null. */
  requestValue(key: string): unknown;
  /** About how many tokens the request is. */
  requestTokens(): number;
}

/** Looks at bytes that pass, for what they cost. */
export interface BytesObserver {
  push(chunk: Uint8Array): void;
  /** What was used, as far as request and bytes say; null: nothing is known. */
  finish(): { usage: Usage; estimated: boolean } | null;
}

/** Operations that upstreams of a protocol serve beside conversations, or in their place. */
export interface UpstreamUnary {
  unary?: { [K in keyof UnaryExchanges]?: UnaryUpstreamCodec<UnaryExchanges[K]['request'], UnaryExchanges[K]['reply'], PieceOf<K>> };
  /** Of an operation whose bodies pass as they are: what the answer used; null: it does not say. */
  readUnaryUsage?(body: unknown): Usage | null;
  /** Of a stream of events that passes: whether this is the last one. Absent: the stream may end after any. */
  isUnaryEnd?(event: unknown): boolean;
  /** Of a reply that passes as bytes, or whose body has no figures; absent: nobody looks. */
  observeBytes?(context: BytesContext): BytesObserver | null;
}
