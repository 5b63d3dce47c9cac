/** The shapes that this protocol's writers print. What is read is never trusted to have them (see kit/read.ts). */

/** `usage` of a reply or of the last chunk. Totals include their details. */
export interface WireUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number; audio_tokens: number; cache_write_tokens?: number };
  completion_tokens_details: { reasoning_tokens: number; audio_tokens: number; accepted_prediction_tokens: number; rejected_prediction_tokens: number };
}

export type WireFinish = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call';

/** Google's field for a signature on a call or on a message. */
export interface ExtraContent {
  google: { thought_signature: string };
}

/** One call, whole in a message, or a fragment (with `index`) in a delta. */
export interface WireToolCall {
  index?: number;
  id?: string;
  type?: 'function' | 'custom';
  function?: { name?: string; arguments: string };
  custom?: { name?: string; input: string };
  extra_content?: ExtraContent;
}

/** Readable or encrypted reasoning with its signature, in the form of aggregators such as OpenRouter. */
export interface ReasoningDetail {
  type: 'reasoning.text' | 'reasoning.summary' | 'reasoning.encrypted';
  text?: string;
  data?: string;
  signature?: string;
  format?: string;
  index?: number;
  /** Ours: the stretch of `reasoning_content` (UTF-16 units, end excluded) that the signature proves, where `text` is empty. */
  span?: [number, number];
}

/** What a delta or a whole message may hold. */
export interface WireMessage {
  role?: 'assistant';
  content?: string | null;
  refusal?: string | null;
  reasoning_content?: string;
  reasoning_details?: ReasoningDetail[];
  tool_calls?: WireToolCall[];
  function_call?: { name?: string; arguments: string };
  extra_content?: ExtraContent;
  [vendorField: string]: unknown;
}

/** One message of a request. */
export interface WireRequestMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content?: unknown;
  name?: string;
  tool_call_id?: string;
  tool_calls?: WireToolCall[];
  refusal?: string;
  reasoning_content?: string;
  reasoning_details?: unknown[];
  extra_content?: ExtraContent;
  /** The model is to go on with it, as some vendors want it said. */
  prefix?: true;
  partial?: true;
}

/** A `raw` block of this protocol: vendor fields of a delta or of a choice that no other protocol has a word for. */
export interface RawFields {
  place: 'message' | 'choice';
  fields: Record<string, unknown>;
}

/** What the request reader keeps for the reply writers. */
export interface Echo {
  includeUsage: boolean;
  /** The caller used `functions`, and reads `function_call`. */
  legacyFunctions: boolean;
}
