/** Operations of one question and one answer, beside the conversation: embeddings, rerank, moderation. */
import type { Loss, Usage } from '@model-gateway/contracts';
import type { WriteRequestContext } from './request-codec.ts';

/** One input of an embeddings request: its text, or the tokens of it by the caller's own tokenizer. */
export type EmbeddingInput = { text: string } | { tokens: readonly number[] };

/** A caller's request for vectors. */
export interface EmbeddingsRequest {
  inputs: readonly EmbeddingInput[];
  /** Numbers, or base64 of little-endian 32-bit floats: answers have the form that was asked for. */
  format: 'float' | 'base64';
  /** Of each vector; undefined: the model's own. */
  dimensions?: number;
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
  mintId(prefix: string): string;
}

/** A caller's side of one operation. */
export interface UnaryClientCodec<Request, Reply> {
  /** Throws GatewayError invalid_request naming the field. */
  readRequest(body: unknown): { request: Request; losses: Loss[] };
  writeReply(reply: Reply, request: Request, context: UnaryReplyContext): unknown;
}

/** An upstream's side of one operation. */
export interface UnaryUpstreamCodec<Request, Reply> {
  /** Throws GatewayError invalid_request for what the upstream cannot be asked. */
  writeRequest(request: Request, context: WriteRequestContext): { body: unknown; losses: Loss[] };
  /** Throws for a body that is no answer to the request. `usage` null: the upstream does not say. */
  readReply(body: unknown, request: Request): { reply: Reply; usage: Usage | null };
}

/** Operations that a protocol's callers may ask for. */
export interface ClientUnary {
  unary?: { embed?: UnaryClientCodec<EmbeddingsRequest, Embeddings>; rerank?: UnaryClientCodec<RerankRequest, Ranking> };
}

/** Operations that upstreams of a protocol serve beside conversations, or in their place. */
export interface UpstreamUnary {
  unary?: { embed?: UnaryUpstreamCodec<EmbeddingsRequest, Embeddings>; rerank?: UnaryUpstreamCodec<RerankRequest, Ranking> };
  /** Of an operation whose bodies pass as they are: what the answer used; null: it does not say. */
  readUnaryUsage?(body: unknown): Usage | null;
}
