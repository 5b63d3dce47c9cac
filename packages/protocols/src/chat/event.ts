import type { Loss, Usage } from '@model-gateway/contracts';
import type { ServedTier } from '../kit/service-tier.ts';

/** Why a reply ended, in no vendor's words. `pause`: send the turn back to go on. */
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'refusal' | 'stop-sequence' | 'pause' | 'context-window' | 'other';

export type BlockStart =
  | { type: 'text' /** Responses' `phase` (commentary, final_answer). */; phase?: string }
  | { type: 'thinking' }
  /** Whole opaque block: its data is the proof. */
  | { type: 'redacted-thinking'; data: string }
  | { type: 'refusal' }
  /** `id` is the upstream's, '' when it sent none: the writer mints. */
  | { type: 'tool-call'; id: string; name: string; custom?: boolean }
  /** Something only its own protocol knows (server tool use and its results, citations…): kept raw, a declared loss elsewhere. */
  | { type: 'raw'; protocol: string; value: unknown /** About how many tokens of sound it holds, in fractions. */; sound?: number };

/**
 * The canonical reply, one event at a time. Blocks are numbered 0, 1, 2 … in the order they open; they may overlap
 * (parallel tool calls of alpha), and each delta names its block. Every opened block is closed before `finish`.
 * Readers emit `start` first, then blocks, then `finish`, then `usage` (at any time; the last one wins), and `end` when
 * the protocol's own terminator was seen. A stream without `end` broke. Nothing follows `error`.
 */
export type ChatEvent =
  | {
      type: 'start';
      id?: string;
      model?: string /** Seconds since the epoch. */;
      createdAt?: number /** As in `finish`, where it is known so early. */;
      servedTier?: ServedTier;
    }
  | { type: 'block-start'; index: number; block: BlockStart }
  | { type: 'text-delta'; index: number; text: string }
  | { type: 'thinking-delta'; index: number; text: string }
  | { type: 'refusal-delta'; index: number; text: string }
  /** A fragment of the arguments' JSON text (or of a custom tool's free text). */
  | { type: 'arguments-delta'; index: number; text: string }
  /** The vendor's proof for the block, raw; writers seal it. */
  | { type: 'signature'; index: number; signature: string }
  | { type: 'raw-delta'; index: number; value: unknown }
  | { type: 'block-end'; index: number }
  | { type: 'usage'; usage: Usage /** Not counted by the upstream. */; estimated?: boolean }
  | {
      type: 'finish';
      reason: FinishReason;
      /** Which stop sequence was hit. */
      stopSequence?: string;
      native?: string;
      /** Which tier served it, where the upstream says so. */
      servedTier?: ServedTier;
      /** The vendor's id of the model that answered, where it is another one than was asked for. */
      servedModel?: string;
      /** What the upstream said that no event can carry. */
      lost?: readonly Loss[];
    }
  | { type: 'error'; error: UpstreamFault }
  | { type: 'end' };

/** More words of an open block. */
export type DeltaEvent = Extract<ChatEvent, { text: string }>;

/** Content that a caller can see, or will act on: from its first event on there is no failover. */
export const isContent = (event: ChatEvent): boolean =>
  event.type === 'block-start' ||
  event.type === 'text-delta' ||
  event.type === 'thinking-delta' ||
  event.type === 'refusal-delta' ||
  event.type === 'arguments-delta';

/**
 * What went wrong at an upstream, decided from the protocol's own codes and never from the status alone.
 * caller: the request's fault, kept for the caller · credential: our key · account: our account (quota, arrears) ·
 * rate, overloaded, server, timeout, connect: the upstream's state · context: too long for the model · too-large: more tokens than the account has in a
 * whole minute, which no waiting mends · model: what the model wrote was not a call, or not JSON, and the upstream says so with a 400.
 */
export interface UpstreamFault {
  class:
    | 'caller'
    | 'context'
    | 'too-large'
    | 'not-found'
    | 'model'
    | 'credential'
    | 'account'
    | 'rate'
    | 'overloaded'
    | 'server'
    | 'timeout'
    | 'connect'
    | 'broken'
    | 'busy';
  /** The upstream's status, when it had one. */
  status?: number;
  /** The upstream's own code or type. */
  code?: string;
  /** The upstream's own words; may be shown to the caller only for `caller`, `context`, `too-large`, `not-found` and `model`. */
  message: string;
  param?: string;
  /** What the upstream says for programs beside its words (`error.details`). */
  details?: Readonly<Record<string, unknown>>;
  /** Milliseconds. */
  retryAfterMs?: number;
  /** The methods that the upstream does take (`Allow`), where the caller chose the method. */
  allow?: string;
}
