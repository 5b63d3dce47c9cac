/** The shapes that this protocol's writers print. What is read is never trusted to have them (see kit/read.ts). */

/** One part of multimodal content: the key is the kind, there is no `type`. */
export type WirePart = { text: string } | { image: string } | { audio: string } | { video: string };

/** Tool call of an assistant message. */
export interface WireCall {
  index: number;
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

/** `content` is text at the text endpoint and parts at the multimodal one. */
export interface WireMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | WirePart[];
  name?: string;
  reasoning_content?: string;
  tool_calls?: WireCall[];
  tool_call_id?: string;
  /** The model is to go on with it. */
  partial?: true;
}

/** A body of both generation endpoints, and of the tokenizer. */
export interface WireRequest {
  model: string;
  input: { messages: WireMessage[] };
  parameters: Record<string, unknown>;
}
