/** From a caller's body to the canonical request, and from there to an upstream's body. */

import type { Loss, Operation, StreamForm } from '@model-gateway/contracts';
import type { Edit } from '@model-gateway/json-bytes';
import type { BodyLayout } from '../body-layout.ts';
import type { Conversation, MediaPart } from '../chat/conversation.ts';
import type { CallerFields } from '../kit/caller-fields.ts';
import type { SignatureRefusal } from '../kit/signature-refusal.ts';
import type { ToolRules } from '../kit/tool-bridge.ts';
import type { OpenPage } from './hosted-tools.ts';
import type { Target } from './target.ts';
import type { StateHolder } from './turns.ts';

/** The parts of a caller's request outside its body. */
export interface ReadRequestContext {
  path: string;
  operation: Operation;
  /** From the path, where the path holds it. */
  model?: string;
  streamForm: StreamForm;
  headers: Readonly<Record<string, string | undefined>>;
  /** Who holds what the body names. */
  state?: StateHolder;
  /** Opens what the gateway's own searches found in earlier turns. Absent: nothing is opened. */
  openPage?: OpenPage;
}

/** A caller's request in canonical form. */
export interface ReadRequest {
  conversation: Conversation;
  losses: Loss[];
  /** What only this protocol's writer needs again (include_usage, the fields Responses echoes). Opaque to everyone else. */
  echo?: unknown;
}

/** Reads callers' requests. Example: `readRequest({ messages }, context)` gives `{ conversation: { turns, … }, losses: [] }`. */
export interface ClientRequestCodec {
  /** Parsed JSON body → canonical request. Throws GatewayError invalid_request naming the field (`param`). Never mutates `body`. */
  readRequest(body: unknown, context: ReadRequestContext): ReadRequest;
  /** What its callers call the fields that losses of a written request name. Absent: the same. */
  callerFields?: CallerFields;
  /** Callers of this protocol can mark what shall be cached: marks that they did not set are not set for them. */
  marksCache?: boolean;
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
  /** Who holds what the body names; looked at where it passes verbatim. */
  state?: StateHolder;
  /** Opens what the gateway's own searches found in earlier turns, where the body passes verbatim. */
  openPage?: OpenPage;
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

/** Writes requests for upstreams. Example: `writeRequest(conversation, context)` gives `{ body: { model, messages }, losses: [] }`. */
export interface UpstreamRequestCodec {
  writeRequest(conversation: Conversation, context: WriteRequestContext): WrittenRequest;
  /** Which tools the target takes; absent: functions with plain names (`plainToolRules`). */
  toolRules?(target: Target): ToolRules;
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
}
