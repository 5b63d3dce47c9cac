/** The shapes that this folder prints on a messages wire; what it reads is untrusted and goes through `kit/read.ts` instead. */

export interface WireCacheControl {
  type: 'ephemeral';
  ttl?: '5m' | '1h';
}

export type WireSource =
  | { type: 'base64'; media_type: string; data: string }
  | { type: 'text'; media_type: 'text/plain'; data: string }
  | { type: 'url'; url: string }
  | { type: 'file'; file_id: string };

/** Text block of a request. */
export interface WireTextBlock {
  type: 'text';
  text: string;
  cache_control?: WireCacheControl;
}

/** Image or document block of a request. */
export interface WireMediaBlock {
  type: 'image' | 'document';
  source: WireSource;
  title?: string;
  context?: string;
  citations?: { enabled: true };
  cache_control?: WireCacheControl;
}

/** Tool call block of a request. */
export interface WireToolUseBlock {
  type: 'tool_use';
  id: string;
  name: string;
  input: unknown;
  cache_control?: WireCacheControl;
}

/** Tool result block of a request. */
/** https://docs.claude.com/en/docs/build-with-claude/search-results */
export interface WireSearchResultBlock {
  type: 'search_result';
  source: string;
  title: string;
  content: WireTextBlock[];
  citations?: { enabled: true };
  cache_control?: WireCacheControl;
}

export interface WireToolResultBlock {
  type: 'tool_result';
  tool_use_id: string;
  content?: (WireTextBlock | WireSearchResultBlock | WireMediaBlock)[];
  is_error?: true;
  cache_control?: WireCacheControl;
}

export type WireThinkingBlock = { type: 'thinking'; thinking: string; signature: string } | { type: 'redacted_thinking'; data: string };

export type WireBlock = WireTextBlock | WireSearchResultBlock | WireMediaBlock | WireToolUseBlock | WireToolResultBlock | WireThinkingBlock;

/** One turn of a request. */
export interface WireMessage {
  role: 'user' | 'assistant' | 'system';
  content: WireBlock[];
}

/** Counts as every reply of ours carries them; the sub-fields are always all there, since coding agents add them up unguarded. */
export interface WireUsage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number };
  output_tokens: number;
  output_tokens_details?: { thinking_tokens: number };
}

/** One event of a stream, as a name (which `data.type` repeats) and its JSON. */
export const printEvent = (data: { type: string; [field: string]: unknown }): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
