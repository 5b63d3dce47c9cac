import type { Loss, Operation, ProtocolId, RequestSigning, StreamForm, Usage } from '@model-gateway/contracts';
import type { Edit } from '@model-gateway/json-bytes';
import type { ModelFamily } from '@model-gateway/model-catalog';
import type { BodyLayout } from './body-layout.ts';
import type { Conversation, MediaPart } from './chat/conversation.ts';
import type { ChatEvent, UpstreamFault } from './chat/event.ts';
import type { Message } from './chat/fold.ts';
import type { SignatureRefusal } from './kit/signature-refusal.ts';
import type { ToolRules } from './kit/tool-bridge.ts';
import type { SocketContext, SocketSession } from './socket-session.ts';

export type * from './socket-session.ts';

/** Everything the gateway knows about one wire protocol. Others receive a `Protocol`; nobody outside compares an id. */
export interface Protocol {
  id: ProtocolId;
  /** One line for the console: what users call it. */
  title: string;
  /** How callers speak it to us; absent for protocols that only upstreams speak. */
  client?: ClientAdapter;
  /** How we speak it to upstreams. */
  upstream?: UpstreamAdapter;
}

// ---- The client's side ---------------------------------------------------------------------------------------------

/** What a path means. `model` is set when the path holds it; otherwise it is the body's top-level `model`. */
export interface RouteMatch {
  operation: Operation | 'list-models' | 'get-model';
  /** Decoded once, whole: may hold `/` and `:`. */
  model?: string;
  /** How the reply is framed when the path decides it (gamma). `null`: the body's top-level `stream` decides. */
  stream: StreamForm | null;
}

/** A route on which callers use a protocol. */
export interface ClientRoute {
  methods: readonly string[];
  /** Exact path, or a prefix that ends in `/`. */
  path: string;
  /** A WebSocket may be opened on this path, too. */
  socket?: true;
  /**
   * Whether this route takes the path, and what it means. `rest` is what follows the prefix, still percent-encoded ('' for exact paths). `headers`
   * tell apart protocols that share a path (`/v1/models`), `method` calls that share one. Null for a method of the route makes the path unknown
   * (404); a method that is not of the route is refused as such (405).
   */
  match(rest: string, query: URLSearchParams, headers: Readonly<Record<string, string | undefined>>, method?: string): RouteMatch | null;
}

/** How long the replies to one request may become, by its own words; undefined: it does not say. */
export interface ReplyLimits {
  /** Tokens of each reply. */
  output?: number | undefined;
  /** Tokens of thinking; 0: none is wanted. */
  thinking?: number | undefined;
  /** How many replies are asked for at once; at least 1. */
  replies: number;
}

/** How callers speak a protocol to the gateway: routes, request reader, reply and error writers. Optional members are features that not every protocol has. */
export interface ClientAdapter {
  /** On the paths of routes that say `socket`, the same calls may come over a WebSocket. */
  createSocketSession?(context: SocketContext): SocketSession;
  routes: readonly ClientRoute[];
  /** Paths of this protocol that are not served, with all below them, and what their 404 says. */
  notServed?: readonly { path: string; message: string }[];
  /** Callers leave the model out of later requests of a session: the session's last one is meant. */
  remembersModel?: true;
  /** An operation without translation, and the error text for callers when no upstream takes it verbatim. */
  onlyVerbatim?: { operation: Operation; refusal: string };
  /** Top-level keys, besides `model`, that verbatim rules may replace or add: the edge's scan notes their positions. */
  editedKeys?: readonly string[];
  /** Quoted texts that verbatim rules pass to `contains`: the edge's scan notes which of them the body holds. */
  bodyWords?: readonly string[];
  /** Top-level key by which a client names its conversation to the vendor's cache. */
  cacheKey?: string;
  /** Top-level keys that `readReplyLimits` asks for: the edge's scan notes where they stand, too. */
  limitKeys?: readonly string[];
  /**
   * Asked before money or tokens are reserved for a request. `value` gives a top-level value of the body; what it is is untrusted, and what makes
   * no sense counts as not said. Absent: requests of this protocol never say.
   */
  readReplyLimits?(value: (key: string) => unknown): ReplyLimits;
  /** Parsed JSON body → canonical request. Throws GatewayError invalid_request naming the field (`param`). Never mutates `body`. */
  readRequest(body: unknown, context: ReadRequestContext): ReadRequest;
  /** Canonical events → text of the caller's stream. */
  createWriter(context: ReplyContext): ReplyWriter;
  /** A whole reply, as the JSON value to print. */
  writeWhole(message: Message, context: ReplyContext): { body: unknown; losses: Loss[] };
  /** Reply of a `count-tokens` call. */
  writeTokenCount(tokens: number): unknown;
  /** An error body in this protocol's shape. `status` is the one that will be sent. */
  writeError(error: ClientError): { body: string; headers?: Record<string, string> };
  /** The stream that says it, for callers who look for this error in the stream and not at the status; null: the status and `writeError` say it. */
  refuseInStream?(
    error: ClientError,
    context: { headers: Readonly<Record<string, string | undefined>>; model: string; createdAt: number; mintId(prefix: string): string },
  ): string | null;
  /** A list of models, or one model, in this protocol's shape. Throws GatewayError invalid_request for a page that cannot be. */
  writeModels(models: readonly ListedModel[], asked: ModelsAsked): unknown;
  writeModel(model: ListedModel): unknown;
  /** The header by which callers of this kind learn from any reply that the list of models is another one now. Absent: there is none. */
  modelsTagHeader?(headers: Readonly<Record<string, string | undefined>>): string | null;
  /** Watches what is written to the caller and can end it properly at any event boundary. */
  createTerminator(context: TerminatorContext): StreamTerminator;
  /** Bytes that keep the line alive between events, or null when this form has none (JSON arrays, whole replies). */
  keepAlive(form: StreamForm, headers: Readonly<Record<string, string | undefined>>): string | null;
  contentType(form: StreamForm): string;
  /** Callers of this protocol can mark what shall be cached: marks that they did not set are not set for them. */
  marksCache?: boolean;
  /**
   * One record of an upstream stream, framed for the caller, where the caller's framing differs from the upstream's (a JSON array). `json` is the
   * record's JSON text, `index` counts the records written before it. Absent: raw bytes pass as they are.
   */
  frameRecord?(json: string, index: number, form: StreamForm): string;
  /** What follows the last record of a stream that ended properly; at least one record was framed before. Absent: nothing. */
  frameEnd?(form: StreamForm): string;
  /** A call of this protocol for an admin who tests a model: his body, or the prompt in the shortest body that works. Absent: not tested by this protocol. */
  testCall?(test: TestCallContext): TestCall;
  /** Extra headers of every reply (`request-id` of beta). */
  replyHeaders?(requestId: string): Record<string, string>;
}

/** What the admin's test call should do. */
export interface TestCallContext {
  model: string;
  stream: boolean;
  prompt: string;
  /** The admin's own body; the model's name and the wish for a stream are set in it. */
  body: Readonly<Record<string, unknown>> | null;
}

/** Request by which an admin tests a model, in one client protocol. */
export interface TestCall {
  path: string;
  /** Without `?`. */
  query: string;
  streamForm: StreamForm;
  body: Record<string, unknown>;
}

/** The parts of a caller's request outside its body. */
export interface ReadRequestContext {
  path: string;
  operation: Operation;
  /** From the path, where the path holds it. */
  model?: string;
  streamForm: StreamForm;
  headers: Readonly<Record<string, string | undefined>>;
}

/** A caller's request in canonical form. */
export interface ReadRequest {
  conversation: Conversation;
  losses: Loss[];
  /** What only this protocol's writer needs again (include_usage, the fields Responses echoes). Opaque to everyone else. */
  echo?: unknown;
}

/** An error to be written in a client protocol; `retryAfter` is in seconds. */
export interface ClientError {
  status: number;
  /** Our code of `packages/contracts/src/errors`. */
  code: string;
  message: string;
  requestId: string;
  param?: string;
  retryAfter?: number;
  /** For programs, beside the words: `error.details` of an upstream of the same protocol, or of the gateway's own in its terms. */
  details?: Readonly<Record<string, unknown>>;
}

/** One entry of a model list. */
export interface ListedModel {
  /** The name callers use. */
  name: string;
  /** Seconds since the epoch. */
  createdAt: number;
  ownedBy: string;
  /** Limits and abilities; of a load balancer, what all of its models have. Absent: nothing is known. */
  family?: ModelFamily;
}

/** How a list of models was asked for. */
export interface ModelsAsked {
  path: string;
  query: URLSearchParams;
}

/** What a reply writer may use; clocks and random are arguments, so that writers stay pure. */
export interface ReplyContext {
  requestId: string;
  /** The name the caller used: what `model` says in every reply. */
  model: string;
  /** Seconds since the epoch. */
  createdAt: number;
  streamForm: StreamForm;
  /** A globally unique id with this prefix, carrying no data: `mintId('toolu_')`. */
  mintId(prefix: string): string;
  /** Wraps a vendor's signature into the gateway's envelope: standard base64 text. */
  sealSignature(signature: string): string;
  /** What this client protocol's own reader put aside. */
  echo?: unknown;
  /** Prompt tokens as far as known when the stream starts (an estimate from bytes), for `message_start`. */
  inputEstimate: number;
}

/** Writes canonical events as a stream of one client protocol. */
export interface ReplyWriter {
  /** Text to send for this event, whole wire events only; '' when nothing. A canonical `error` is never written: the stream terminator ends such streams. */
  write(event: ChatEvent): string;
  losses: Loss[];
}

/** Notice from the gateway inside a reply, such as why it ended early. */
export interface GatewayWarning {
  reason: string;
  detail: string;
  last_finish_reason: string | null;
  /** ISO 8601. */
  timestamp: string;
}

/** What a stream terminator needs to end a reply from bytes alone. */
export interface TerminatorContext {
  requestId: string;
  model: string;
  createdAt: number;
  streamForm: StreamForm;
  /** Absent: `generate`. */
  operation?: Operation;
  mintId(prefix: string): string;
}

/**
 * The one mechanism that ends broken streams, wherever they broke: it sees what was written to the caller, byte for byte, and
 * `close` gives what is missing: open blocks closed, `_gateway_warning` as a field on a known event, a length-type stop reason
 * (never tool use or a natural end), the terminator. Works after any whole event, and when nothing was written at all.
 * A cut tool call's JSON is never completed.
 */
export interface StreamTerminator {
  /** Whole events, in order; a long run may come in several pieces, the last with `eventEnd`. */
  observe(bytes: Uint8Array): void;
  /** Asked once for whole events of `length` bytes that hold nothing but more words of open blocks: whether they need not be observed. Absent: they are. */
  passes?(length: number): boolean;
  /** Text to append, '' when the stream had already ended properly. `timestamp`, `reason`, `detail` are the warning's. */
  close(warning: Omit<GatewayWarning, 'last_finish_reason'>, usage?: Usage): string;
  /** The protocol's own end was seen. */
  readonly ended: boolean;
  /**
   * Whether a caller whose connection breaks now may repeat the request: the reply has not come to its end, and no call was handed over that it may
   * have run already.
   */
  readonly repeatable: boolean;
}

// ---- The upstream's side -------------------------------------------------------------------------------------------

/** Where and how one attempt goes; resolved from the snapshot. */
export interface Target {
  /** `base_url` of the model, else of the upstream. */
  baseUrl: string;
  /** Use `baseUrl` as the whole endpoint. */
  directPath: boolean;
  /** inference_profile, else upstream_model_id. */
  upstreamModelId: string;
  /** upstream_model_id; the model's own id also where the address names an inference profile, whose id may not name the model. */
  modelId?: string;
  neutralHeaders: boolean;
  extraConfig: Record<string, unknown> | null;
  /** What is known of the model; looked up by `familyOf` when absent. */
  family?: ModelFamily;
  /** The model's `kind`: which variant of the protocol it speaks; absent or null for the usual one. */
  kind?: string | null;
  /** Feature flags that this upstream refused for this model a short while ago. */
  refusedFlags?: ReadonlySet<string>;
}

/** Method, address and headers of an upstream call, without credentials and body. */
export interface UpstreamRequest {
  method: 'POST' | 'GET';
  /** Absolute. */
  url: string;
  /** Without the credential; version and feature headers of this protocol, `content-type`, `accept`. */
  headers: Record<string, string>;
}

/** What an upstream's request depends on besides the conversation. */
export interface WriteRequestContext {
  target: Target;
  operation: Operation;
  stream: boolean;
  /** Opens a sealed signature for this attempt's model, upstream and account. null: it was issued for another one and must not be sent (declare the loss). */
  openSignature(sealed: string): string | null;
  /**
   * Set on the one retry after the upstream refused the signatures of this history, or their absence. Only what it names is changed: `openSignature`
   * opens none where signatures are not accepted, and a missing one is replaced by what the wire allows (the value that skips the check, a filler, no
   * thinking at all).
   */
  signaturesRefused?: SignatureRefusal;
  mintId(prefix: string): string;
  /** The caller's headers, where its request passes to an upstream of the same protocol. */
  clientHeaders?: Readonly<Record<string, string>>;
}

/** An upstream's request body and what was lost or emulated in it. */
export interface WrittenRequest {
  /** The JSON value to print. */
  body: unknown;
  losses: Loss[];
  emulation?: ReplyEmulation;
  /** The caller's schemas of tools whose schemas were widened, by the tool's name as it is sent: the model's calls are judged by them. */
  relaxedToolSchemas?: ReadonlyMap<string, unknown>;
}

/** A structured answer that was asked for by other means: the reply must still give it as plain text, and it may miss the schema. */
export interface ReplyEmulation {
  /** The answer comes as the arguments of this forced tool; absent: as text, perhaps inside a code fence. */
  tool?: string;
  /** The caller's own schema; absent: any JSON object. */
  schema?: unknown;
}

/** One record of an upstream stream. `json` is `data` parsed once by the pump, undefined when it is not JSON (`[DONE]`). */
export interface StreamRecord {
  /** SSE event name, when it had one. */
  event?: string | undefined;
  data: string;
  json: unknown;
  /** Binary event streams only: the message says that the stream has failed; `event` is its type or code. */
  failure?: 'exception' | 'error' | undefined;
}

/** A record after framing, before its data is parsed. `dataStart`, `dataEnd`: offsets of `data` in `raw`, when it is one piece of it. */
export interface FramedRecord extends Omit<StreamRecord, 'json'> {
  raw: Uint8Array;
  /** Set by who has parsed it already. */
  json?: unknown;
  dataStart?: number | undefined;
  dataEnd?: number | undefined;
}

/** Record in, events out. Holds the state of one reply. Tolerates unknown fields, nulls, empty arrays; never throws on content. */
export interface ReplyReader {
  read(record: StreamRecord): ChatEvent[];
  /** The body ended: closes what a proper end leaves open (protocols that end by EOF emit `finish` and `end` here if the reply was complete). */
  finish(): ChatEvent[];
  /** false: the next record's meaning depends on its content, so it has to be read even if it looks like the last. Absent: it does not. */
  readonly steady?: boolean;
}

/**
 * Where the records of a stream differ while a block grows. Of a record that gave one delta and nothing else, one that follows at once and differs from it
 * in these values alone gives the same with other words and changes nothing else in the reader: it need not be parsed.
 */
export interface DeltaFields {
  /** Texts that are a delta's words, as they are. */
  words: readonly Edit['path'][];
  /** Texts and whole numbers that neither reader nor verbatim rules look at. */
  idle: readonly Edit['path'][];
}

/** How the gateway calls upstreams of a protocol: addresses, credentials, request writer, reply and error readers. Optional members are features that not every protocol has. */
export interface UpstreamAdapter {
  framing: 'sse' | 'json-array' | 'event-stream';
  /** Absent: each record is parsed. */
  deltaFields?: DeltaFields;
  /** Values of a model's `kind` that mean something to this protocol, beside none. Absent: none does. */
  kinds?: readonly string[];
  /** Takes a record out of the envelope in which a host carries another protocol's events, as that protocol would have framed it (`raw` too). */
  unwrapRecord?: ((record: FramedRecord) => FramedRecord) | undefined;
  /** Which tools the target takes; absent: functions with plain names (`plainToolRules`). */
  toolRules?(target: Target): ToolRules;
  /**
   * The protocol whose thinking signatures this one carries, where they are not its own: the same vendor's models behind another protocol. Absent:
   * its own.
   */
  signatureKind?(target: Target): ProtocolId;
  /**
   * Address and headers of a call. `clientHeaders` are the caller's (allow-listed names only reach the upstream, and only when both sides
   * speak this protocol), `clientQuery` likewise.
   */
  request(context: {
    target: Target;
    operation: Operation;
    stream: boolean;
    clientHeaders?: Readonly<Record<string, string>>;
    clientQuery?: string;
    clientPath?: string;
    /** The written body, for those whose address depends on it; undefined: the caller's own passes. */
    body?: () => unknown;
  }): UpstreamRequest;
  /** The credential's header, and what must go with it. `headers`: those of the request so far, which the result is laid over. */
  credential(key: string, target: Target, headers?: Readonly<Record<string, string>>): Record<string, string>;
  /** How a key of this kind signs the whole request, in place of `credential`; null: the key is sent in a header. */
  signing?(key: string, target: Target): RequestSigning | null;
  /** Whether this upstream has a counter of its own. */
  countsTokens: boolean;
  writeRequest(conversation: Conversation, context: WriteRequestContext): WrittenRequest;
  /** `target`: for protocols behind which several vendors' shapes stand. */
  createReader(target: Target): ReplyReader;
  /** A whole JSON reply → the same events. */
  readWhole(body: unknown, target: Target): ChatEvent[];
  /**
   * The usage of a whole reply that is plainly finished and failed at nothing: all that a reply which passes as it is must be read for. undefined:
   * not that plain, or without figures, and `readWhole` has to tell. Absent: it always has.
   */
  finishedUsage?(body: unknown): Usage | undefined;
  readTokenCount(body: unknown): number | null;
  /**
   * Auto normalization: edits of top-level fields (or inside them) that the model's family would refuse. `field` gives a top-level value of the
   * request, undefined when absent. Used for verbatim and translated requests; [] when nothing is to be changed.
   */
  normalize?(field: (key: string) => unknown, context: WriteRequestContext): { edits: Edit[]; losses: Loss[] };
  /** Puts cache marks into a body that `writeRequest` made, where the model's family caches only what is marked. */
  injectCache?(body: unknown, context: WriteRequestContext): void;
  /** How the body is built that goes to this target; null or absent: its parts have no known places. */
  bodyLayout?(target: Target): BodyLayout | null;
  /** `false`: a reply that the caller has begun is never continued on this wire. Absent: it depends on the model, or the writer sees to it. */
  continuesReplies?: false;
  /** Whether this part is read here though the model is not known to read its kind. Absent: none is. */
  readsKind?(part: MediaPart, target: Target): boolean;
  /** Whether replies of this target cite the documents that ask for it (`MediaPart.cite`). Absent: none does. */
  cites?(target: Target): boolean;
  /** Whether the upstream opens this part's address by itself; absent: always. Else the gateway fetches the bytes where it may. */
  opensUrl?(part: MediaPart, target: Target): boolean;
  /** A non-2xx reply, or an error found in a body. `body` is text as it came; `headers` lower case. */
  readError(status: number, headers: Readonly<Record<string, string | undefined>>, body: string): UpstreamFault;
  /** Which of the feature flags in a caller's headers this fault refuses: the same request is sent once more without them. Absent: no protocol of flags. */
  refusedFlags?(fault: UpstreamFault, clientHeaders: Readonly<Record<string, string>>): string[];
  /** Present when a caller of the same protocol may pass verbatim. */
  verbatim?: VerbatimRules;
  /** Whose bytes pass verbatim, where it is not simply this protocol's own callers: a host may carry another protocol's bodies. */
  passesVerbatim?(client: ProtocolId, target: Target, operation: Operation): boolean;
  /** Address and reader of the model list, for the console's probe. */
  listModels(target: Target): UpstreamRequest;
  readModelList(body: unknown): string[];
}

/**
 * What must change in verbatim bodies, when both sides speak this protocol: model names, `toolu_` ids, sealed signatures. Edits name paths in the
 * JSON text; everything else keeps every byte.
 */
export interface VerbatimRules {
  /** Whether this body is in the protocol's own shape: else it is read and written anew, though both sides speak the same protocol. Absent: it is. */
  takes?(body: Pick<VerbatimRequestContext, 'contains' | 'value'>, operation: Operation): boolean;
  /** Edits of the request body. `parse` parses the body on demand: call it only when `contains` says there is something to find. */
  requestEdits(context: VerbatimRequestContext): { edits: Edit[]; losses: Loss[] };
  /** State for one reply. */
  createReply(context: VerbatimReplyContext): VerbatimReply;
}

/** Context of a request whose body is passed verbatim; the body is parsed only on demand. */
export interface VerbatimRequestContext extends WriteRequestContext {
  /** Whether the body's bytes contain this ASCII text. A quoted word means a whole string; it costs nothing when the client adapter lists it in advance. */
  contains(text: string): boolean;
  /** The JSON bytes of a top-level value, unparsed; undefined when it is not there. Absent: nobody noted where values stand. */
  value?(key: string): Buffer | undefined;
  parse(): unknown;
}

/** Context of a reply that is passed verbatim. */
export interface VerbatimReplyContext {
  model: string;
  mintId(prefix: string): string;
  sealSignature(signature: string): string;
  /** A top-level value of the request; undefined when it is absent or null. */
  requestValue(key: string): unknown;
}

/** Edits of one verbatim reply: of each record of a stream, or of a whole body. */
export interface VerbatimReply {
  /** Edits of one stream record's JSON, or 'drop' for a record the caller did not ask for. [] leaves its bytes as they are. */
  record(record: StreamRecord): Edit[] | 'drop';
  /** What a stream still owes the caller when the upstream ended it properly but without its terminator. Absent: nothing. */
  finish?(): string;
  /** Edits of a whole reply. */
  whole(body: unknown): Edit[];
}
