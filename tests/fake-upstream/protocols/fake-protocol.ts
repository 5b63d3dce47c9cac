/** What the fake upstream must know of one protocol: how to read a request a little, and how to write correct replies. */

/** The few facts of a request that decide the reply. */
export interface Asked {
  model: string;
  stream: boolean;
  /** Text of the last user turn. */
  text: string;
  /** Names of the tools that the caller offers. */
  tools: string[];
  /** Text of a tool result after the last user turn, or null. */
  toolResult: string | null;
}

/** What the model "says". */
export interface Turn {
  model: string;
  /** Its own among the replies of the process; of one length, so that bytes of a body can be counted. */
  id: string;
  /** Text deltas; joined they are the whole text, which stands in front of the calls. */
  chunks: string[];
  tool: Call | null;
  /** Calls beside that one, in the same turn. */
  moreCalls?: readonly Call[];
  /** Reasoning in front of everything else; `signature` is what the vendor wants to have back. */
  thinking?: { text: string; signature: string };
  inputTokens: number;
  outputTokens: number;
  /** Whether the caller asked for usage in the stream, where that is a choice. */
  includeUsage: boolean;
  /** Every event repeats what was said before it, where a protocol may do that. */
  cumulative: boolean;
}

export interface Call {
  id: string;
  name: string;
  args: string;
}

/** Whether the turn says something, be it in front of its calls or alone. */
export const hasText = (turn: Turn): boolean => turn.tool === null || turn.chunks.length > 0;
/** All calls of the turn. */
export const callsOf = (turn: Turn): Call[] => (turn.tool === null ? [] : [turn.tool, ...(turn.moreCalls ?? [])]);

export interface FakeProtocol {
  read(body: Record<string, unknown>): Omit<Asked, 'model' | 'stream'>;
  /** The body of a reply that comes at once. */
  whole(turn: Turn): unknown;
  /** The events of a streamed reply, each as the bytes that a frame holds. */
  events(turn: Turn): string[];
  /** The n-th text delta after the first one, in a stream that never ends. */
  delta(turn: Turn, text: string, n: number): string;
  /** An error inside a stream whose head said 200. */
  midstreamError(message: string): string;
  error(status: number, code: string, message: string): unknown;
  /** Where a header says which error it is. */
  errorHeaders?(status: number, code: string): Record<string, string>;
  countTokens(tokens: number): unknown;
  /** The shortened conversation: the user's messages, and the rest of it sealed. Absent: the protocol shortens none. */
  compact?(turn: Turn, body: Record<string, unknown>, sealed: string): unknown;
  models(ids: readonly string[]): unknown;
}

export const sse = (data: unknown, event?: string): string => `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

type Part = { type?: unknown; text?: unknown; content?: unknown };
/** The text of a content that is a string or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: Part) => (typeof part === 'string' ? part : typeof part?.text === 'string' ? part.text : '')).join('');
}

export const listOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];
export const nameOf = (value: unknown): string[] => (typeof value === 'string' ? [value] : []);
