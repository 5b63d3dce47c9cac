/**
 * The canonical request: what a caller asks of a model, in no vendor's shape. Readers fill it, writers print it.
 * It never crosses the bus. Text is never trimmed or re-encoded; JSON values stay as they were parsed.
 */
export interface Conversation extends ConversationLabels {
  /** Leading system or developer text, in order. */
  system: SystemPart[];
  turns: Turn[];
  tools: Tool[];
  toolChoice?: ToolChoice;
  /** false: at most one call in a reply. */
  parallelToolCalls?: boolean;
  output?: OutputFormat;
  sampling: Sampling;
  reasoning?: Reasoning;
  stream: boolean;
}

/** What a request says about itself and its user, beside what is asked of the model. */
export interface ConversationLabels {
  /** The end user's id, as the vendor's field for it. */
  user?: string;
  /** A second id of the end user, by which one vendor recognises users who break its rules. */
  safetyIdentifier?: string;
  metadata?: Record<string, unknown>;
  verbosity?: string;
  serviceTier?: string;
  promptCacheKey?: string;
  /** Whether OpenAI is to place a breakpoint of its own beside those that are marked. Absent: the caller's protocol knows marks alone. */
  cacheMode?: 'implicit' | 'explicit';
}

/** Cache breakpoint on a part, with its requested lifetime. */
export interface CacheMark {
  ttl?: '5m' | '1h';
  /** The lifetime as OpenAI's protocols named it, for a model that has the same ones. */
  openaiTtl?: '30m' | '12h';
}

/** One piece of the system prompt. */
export interface SystemPart {
  text: string;
  cache?: CacheMark;
}

/** `system` turns are those that stand between others; leading ones are in `Conversation.system`. */
export interface Turn {
  role: 'user' | 'assistant' | 'system';
  parts: Part[];
  name?: string;
}

export type Part = TextPart | MediaPart | ToolCallPart | ToolResultPart | ThinkingPart | RefusalPart;

/** Text of a turn or of a tool result. */
export interface TextPart {
  type: 'text';
  text: string;
  cache?: CacheMark;
  /** Sealed signature of a text part (gamma only). */
  signature?: string;
  /** Responses' `phase` (commentary, final_answer), kept for replay. */
  phase?: string;
  /** The text was found by a tool that the gateway or a vendor ran; the model did not write it, though its turn holds it. */
  found?: true;
  /** What `text` says as one string, where the caller gave it as a search result. Writers see it only where `UpstreamAdapter.cites` says yes. */
  searchResult?: SearchResult;
}

/** A text found by the caller, with its source; none of its texts is blank. */
export interface SearchResult {
  source: string;
  title: string;
  content: readonly string[];
  /** The reply is to cite the passages that it leans on. */
  cite: boolean;
}

/** The bytes of a media part, or where they are. */
export interface MediaSource {
  mimeType?: string;
  data?: string;
  url?: string;
  fileId?: string;
  /** Plain text of a document that was sent as text. */
  text?: string;
  filename?: string;
}

/** Image, PDF or other document, audio or video; exactly one of `data` (standard base64) and `url`, or a file id of the upstream. */
export interface MediaPart extends MediaSource {
  type: 'media';
  kind: 'image' | 'document' | 'audio' | 'video';
  title?: string;
  context?: string;
  /** The reply is to cite the passages of this document that it leans on. Writers see it only where `UpstreamAdapter.cites` says yes. */
  cite?: boolean;
  /** alpha's image detail. */
  detail?: string;
  cache?: CacheMark;
}

/** Tool call of the assistant. */
export interface ToolCallPart {
  type: 'tool-call';
  /** '' when the source had none: writers mint or pair by order. */
  id: string;
  name: string;
  /** The arguments as JSON text, as they came; '' means no arguments. For `custom` tools free text. */
  arguments: string;
  custom?: boolean;
  /** Sealed signature of a call (gamma only). */
  signature?: string;
  cache?: CacheMark;
}

/** Result of a tool call. */
export interface ToolResultPart {
  type: 'tool-result';
  /** Id of the call this answers; '' when the source had none (pair by name and order). */
  callId: string;
  /** Function name, where the source carries it. */
  name?: string;
  content: (TextPart | MediaPart)[];
  isError?: boolean;
  /** The result was a JSON object (gamma): its exact text, beside `content`, which holds the same as text. */
  json?: unknown;
  custom?: boolean;
  cache?: CacheMark;
}

/** Earlier reasoning of the assistant. */
export interface ThinkingPart {
  type: 'thinking';
  /** Readable text; '' when only the signature exists. */
  text: string;
  /**
   * The opaque signature as the caller sent it: normally our sealed envelope. Writers pass it through `context.openSignature` and send the result, or
   * leave the signature out.
   */
  signature?: string;
  /** Opaque block without readable text (beta `redacted_thinking`); the signature is its data. */
  redacted?: boolean;
  /** alpha_response reasoning item id. */
  itemId?: string;
  /** Summary parts, when the source has several. */
  summary?: string[];
}

/** Text with which the model refused to answer. */
export interface RefusalPart {
  type: 'refusal';
  text: string;
}

/** Roughly where the user is, as the caller says it. `country`: two letters of ISO 3166; `timezone`: a name of the IANA's. */
export interface UserPlace {
  country?: string;
  region?: string;
  city?: string;
  timezone?: string;
}

/** A web search that one vendor offers in two protocols: what both can say of it. `size`: how much is put before the model (low, medium, high). */
export interface SharedSearch {
  size?: string;
  place?: UserPlace;
}

/** Tool that the caller declares: a function, a free-text tool or one that a vendor runs. */
export interface Tool {
  /** `function` tools are run by the caller; `custom` ones take free text; `server` ones are the vendor's own, kept raw for same-family upstreams. */
  type: 'function' | 'custom' | 'server';
  name: string;
  description?: string;
  /** JSON schema of the arguments; absent: no arguments. */
  parameters?: unknown;
  strict?: boolean;
  cache?: CacheMark;
  /** The vendor's object, for `server` and `custom`, with the protocol it was written in. */
  raw?: unknown;
  rawProtocol?: string;
  /** Of a `server` tool that the caller runs itself and only its vendor's models know: its declaration as a function for other models. */
  asFunction?: { description: string; parameters: unknown };
  /** Of a `server` tool that another protocol of the same vendor has as well. */
  asSearch?: SharedSearch;
}

/** `any`: some tool must be called. `allowed` limits which may be. */
export type ToolChoice = { type: 'auto' | 'none' | 'any'; allowed?: string[] } | { type: 'tool'; name: string };

export type OutputFormat = { type: 'text' } | { type: 'json' } | { type: 'schema'; schema: unknown; name?: string; description?: string; strict?: boolean };

/** Sampling parameters and limits; absent fields are left to the upstream's defaults. */
export interface Sampling {
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  stop?: string[];
  seed?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  /** Number of choices; carried only between equal protocols. */
  choices?: number;
  logprobs?: boolean;
  topLogprobs?: number;
  logitBias?: Record<string, number>;
}

/** Any of the fields may be absent. `enabled: false` asks for no reasoning at all. */
export interface Reasoning {
  enabled?: boolean;
  effort?: 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | 'none';
  /** Tokens; -1: the model decides. */
  budget?: number;
  /** Whether readable reasoning is wanted, and in which form. */
  summary?: 'auto' | 'concise' | 'detailed' | 'none';
  adaptive?: boolean;
}
