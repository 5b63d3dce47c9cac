/** The request to one upstream: made once, then patched by the steps of `order.ts`. */
import { applyEdits, type Edit, type KnownPlaces } from '@model-gateway/json-bytes';
import type {
  Conversation,
  Protocol,
  ReplyEmulation,
  SignatureRefusal,
  ToolBridge,
  UpstreamAdapter,
  UpstreamRequest as UpstreamEndpoint,
  VerbatimRequestContext,
  VerbatimRules,
} from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import type { Egress } from '@model-gateway/upstream-client';
import type { RequestBody } from '../request/body.ts';
import type { PassedCall } from '../request/passed.ts';
import type { Signatures } from './signatures.ts';

/** Where a request goes, and in which protocol. No step changes it. */
export interface UpstreamTarget {
  readonly route: Route;
  readonly protocol: Protocol;
  readonly adapter: UpstreamAdapter;
  /** Verbatim rules, when both sides speak this protocol; null: the request is translated, and so is the reply. */
  readonly verbatim: VerbatimRules | null;
  /** The call passes with its reply; null: the reply is read. */
  readonly passed: PassedCall | null;
  readonly context: VerbatimRequestContext;
  readonly signatures: Signatures;
  /** Set on the retry after a refusal of signatures. */
  readonly signaturesRefused: SignatureRefusal | undefined;
}

/** What the preparation steps see, and return patches of. Absent: nothing of the kind. */
export interface RequestContent {
  readonly target: UpstreamTarget;
  /** Translated: what the caller asks, where a step changed it; absent: as it was read. */
  readonly conversation?: Conversation;
  /** Verbatim: what changes in the caller's bytes, all at once at the end. */
  readonly edits: readonly Edit[];
  /** Verbatim: where a step found the top-level values that `edits` may name. */
  readonly places?: KnownPlaces | undefined;
  /** Translated: the JSON value that will be printed. It belongs to this request alone. */
  readonly value: unknown;
  /** Sent in place of the body: the caller's own bytes with a few values between them, which are not put together. */
  readonly pieces?: readonly Uint8Array[];
  /** The body as a step printed it: it replaces `value`, and the caller's bytes with their edits. Later `edits` are made in it. */
  readonly printed: Buffer | null;
  /** A script reroutes the request, as it is now, to this model; nothing is sent to this route. */
  readonly rerouteTo?: string;
  /** How the reply gives what the request asked for by other means. */
  readonly emulation?: ReplyEmulation | undefined;
  /** The caller's schemas of tools that were sent with wider ones. */
  readonly relaxedToolSchemas?: ReadonlyMap<string, unknown> | undefined;
  /** Puts names and kinds of tools back in the reply's calls, where the request changed them. */
  readonly bridge?: ToolBridge | undefined;
}

/** One request to an upstream, ready to be sent. */
export interface UpstreamRequest extends RequestContent {
  /** The body as it is sent. */
  readonly bytes: Buffer;
  readonly endpoint: UpstreamEndpoint;
  readonly egress: Egress | undefined;
}

/** What a step changes; undefined: nothing. */
export type RequestPatch = Partial<Omit<RequestContent, 'target'>> | undefined;

/** The body as it would be sent now. `source`: the caller's. */
export function printContent({ target, edits, places, value, printed }: RequestContent, source: RequestBody): Buffer {
  if (!printed && !target.verbatim) return Buffer.from(JSON.stringify(value), 'utf8');
  const bytes = printed ?? source.bytes;
  if (edits.length === 0) return bytes;
  const edited = applyEdits(bytes, edits, printed ? undefined : (places ?? source.places));
  return Buffer.from(edited.buffer, edited.byteOffset, edited.byteLength);
}
