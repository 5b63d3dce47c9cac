/** What must change in bodies that pass as they are, when both sides speak one protocol. */

import type { Loss, Operation, ProtocolId } from '@model-gateway/contracts';
import type { Edit, Projected } from '@model-gateway/json-bytes';
import type { StreamRecord } from './reply-codec.ts';
import type { WriteRequestContext } from './request-codec.ts';
import type { Target } from './target.ts';
import type { ReplyTurn } from './turns.ts';

/**
 * What must change in verbatim bodies, when both sides speak this protocol: model names, `toolu_` ids, sealed signatures. Edits name paths in the
 * JSON text; everything else keeps every byte.
 */
export interface VerbatimRules {
  /**
   * Whether this body is in the protocol's own shape, and holds nothing that this model's vendor must be given in another form: else it is read and
   * written anew, though both sides speak the same protocol. Absent: it is.
   */
  takes?(body: Pick<VerbatimRequestContext, 'contains' | 'value'>, operation: Operation, target: Target): boolean;
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
  /** Absent: `generate`. */
  operation?: Operation;
  model: string;
  mintId(prefix: string): string;
  sealSignature(signature: string): string;
  /** A top-level value of the request; undefined when it is absent or null. */
  requestValue(key: string): unknown;
  /** The stored turn that this reply is. */
  turn?: ReplyTurn;
  /** Declares what the upstream says it has left out. Absent: nobody asks. */
  lose?(loss: Loss): void;
}

/** Edits of one verbatim reply: of each record of a stream, or of a whole body. */
export interface VerbatimReply {
  /** Edits of one stream record's JSON, or 'drop' for a record the caller did not ask for. [] leaves its bytes as they are. */
  record(record: StreamRecord): Edit[] | 'drop';
  /** What the SSE event is called of a record that came without a name, where callers go by names; undefined: nothing is missing. Absent: they do not. */
  missingName?(record: StreamRecord): string | undefined;
  /** What a stream still owes the caller when the upstream ended it properly but without its terminator. Absent: nothing. */
  finish?(): string;
  /** Edits of a whole reply. */
  whole(body: unknown): Edit[];
  /** Of a whole reply what `whole` and the readers of its usage look at; undefined: that takes all of it. Absent: always. */
  look?(bytes: Uint8Array): Projected | undefined;
}

/** Absent: bodies never pass as they are. Example: the model's name is replaced by an edit of `['model']`, and every other byte stays. */
export interface UpstreamVerbatim {
  /** Present when a caller of the same protocol may pass verbatim. */
  verbatim?: VerbatimRules;
  /** Nothing is known of what this upstream answers: replies to callers of every protocol pass as bytes, but for the model's name. */
  passesAsIs?: true;
  /** Whose bytes pass verbatim, where it is not simply this protocol's own callers: a host may carry another protocol's bodies. */
  passesVerbatim?(client: ProtocolId, target: Target, operation: Operation): boolean;
}
