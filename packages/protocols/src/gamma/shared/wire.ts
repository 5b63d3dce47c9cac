/** The shapes of gamma that we write; what we read is untrusted and goes through `fields.ts`. */
import type { JsonObject } from '../../kit/read.ts';

/**
 * A value that the vendor accepts in place of a signature. It belongs to no model or account, so it is never sealed, opened or stripped. See
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export const skipSignature = 'skip_thought_signature_validator';

/** One part of a turn; exactly one kind of content is set. */
export interface WirePart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  inlineData?: { mimeType: string; data: string };
  fileData?: { fileUri: string; mimeType?: string };
  functionCall?: { id?: string; name: string; args: unknown };
  functionResponse?: WireFunctionResponse;
}

/** Result of a function call; `parts` holds its media where the model takes them. */
export interface WireFunctionResponse {
  id?: string;
  name: string;
  response: JsonObject;
  parts?: WirePart[];
}

/** One turn. */
export interface WireContent {
  role: 'user' | 'model';
  parts: WirePart[];
}

/** Token counts (`usageMetadata`); `promptTokenCount` includes cached tokens, `candidatesTokenCount` excludes thoughts. */
export interface WireUsage {
  promptTokenCount: number;
  cachedContentTokenCount?: number;
  candidatesTokenCount: number;
  thoughtsTokenCount?: number;
  totalTokenCount: number;
  promptTokensDetails?: WireDetail[];
  candidatesTokensDetails?: WireDetail[];
}

/** How many of the tokens are of one kind of content. */
export interface WireDetail {
  modality: 'TEXT' | 'IMAGE' | 'AUDIO';
  tokenCount: number;
}

/** Values of the request that the reply repeats, or that decide its form. */
export interface Echo {
  /** One of several words was asked for: the caller gets the word alone. */
  answersEnum?: boolean;
  /** A tool of the vendor was declared whose use is reported with the candidate. */
  grounds?: boolean;
}

/** The property under which another vendor's model gives that word. */
export const enumAnswer = 'answer';

/** A raw block of this protocol: a part only gamma knows (executable code, generated media), or facts about the whole candidate (grounding). */
export type RawValue = { part: JsonObject } | { candidate: JsonObject } | { looked: Looked };

/** What the gateway itself looked for on the web, or read. */
export type Looked = { query: string } | { retrievedUrl: string; urlRetrievalStatus: string };
