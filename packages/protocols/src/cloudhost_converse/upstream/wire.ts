/** The shapes that this folder prints on a Converse wire; what it reads is untrusted and goes through `kit/read.ts` instead. */

export interface WireCachePoint {
  cachePoint: { type: 'default'; ttl?: '5m' | '1h' };
}

/** Bytes are base64 on the wire. */
export type WireSource = { bytes: string } | { s3Location: { uri: string } };

/** Text block. */
export interface WireTextBlock {
  text: string;
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_SearchResultBlock.html */
export interface WireSearchResultBlock {
  searchResult: { source: string; title: string; content: { text: string }[]; citations: { enabled: boolean } };
}

export type WireMediaBlock =
  | { image: { format: string; source: WireSource } }
  | { video: { format: string; source: WireSource } }
  | { audio: { format: string; source: WireSource } }
  | { document: { name: string; format: string; source: WireSource | { text: string }; context?: string; citations?: { enabled: true } } };

/** Tool call block. */
export interface WireToolUseBlock {
  toolUse: { toolUseId: string; name: string; input: unknown };
}

/** Tool result block. */
export interface WireToolResultBlock {
  toolResult: { toolUseId: string; content: (WireTextBlock | WireSearchResultBlock | WireMediaBlock | { json: unknown })[]; status?: 'error' };
}

/** Reasoning block, readable with a signature or opaque. */
export interface WireReasoningBlock {
  reasoningContent: { reasoningText: { text: string; signature?: string } } | { redactedContent: string };
}

export type WireBlock = WireTextBlock | WireSearchResultBlock | WireMediaBlock | WireToolUseBlock | WireToolResultBlock | WireReasoningBlock | WireCachePoint;

/** One turn of a request. */
export interface WireMessage {
  role: 'user' | 'assistant';
  content: WireBlock[];
}

export type WireSystemBlock = WireTextBlock | WireCachePoint;

export type WireTool = { toolSpec: { name: string; description?: string; inputSchema: { json: unknown }; strict?: true } } | WireCachePoint;
