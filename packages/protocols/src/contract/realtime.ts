/** Sessions over a WebSocket: frames pass as they are, and what they say about responses and usage is observed. */
import type { RealtimeKind, Usage } from '@model-gateway/contracts';
import type { UpstreamFault } from '../chat/event.ts';
import type { Target } from './target.ts';

/** About how many tokens a piece of content is, in fractions: the count of a response whose end never comes. */
export interface WrittenTokens {
  readonly text: number;
  readonly sound: number;
}

/** What a frame of the upstream says about the session. */
export type RealtimeNotice =
  /** The session exists: from here on it belongs to this upstream. */
  | { readonly kind: 'session' }
  | { readonly kind: 'response-started'; readonly id: string }
  /** Content of a response. `id` null: the frame does not say of which. */
  | { readonly kind: 'content'; readonly id: string | null; readonly written: WrittenTokens }
  | { readonly kind: 'response-ended'; readonly id: string; readonly status: string; readonly code: string | null; readonly usage: Usage | null }
  /** What all of the session has used so far, beside its responses: whole seconds. */
  | { readonly kind: 'session-usage'; readonly seconds: number }
  /**
   * Of turns that nothing announces, one after the other: this frame holds some of its content, counts something, ends it, or all of that. `handle`: by
   * which the account that gave it, and no other, resumes the session over a new connection.
   */
  | { readonly kind: 'turn'; readonly content: WrittenTokens | null; readonly usage: Usage | null; readonly over: boolean; readonly handle?: string }
  /** `eventId`: of the caller's event that it is about, as far as it says. `mayBeOfAsk`: nothing in it tells that it is about another event than an ask. */
  | { readonly kind: 'error'; readonly fault: UpstreamFault; readonly eventId: string | null; readonly mayBeOfAsk: boolean };

/** What a frame of the caller asks for. */
export type RealtimeAsk = { readonly kind: 'respond'; readonly eventId: string | null };

/** Sessions of one kind. Example: `connect({ target, clientHeaders })` gives `{ url: 'wss://host/v1/realtime?model=m', headers: {} }`. */
export interface RealtimeAdapter {
  /** Address (`ws:` or `wss:`) and headers of a session, without the credential. `version`: the one that the caller's path names, if it does. */
  connect(context: { target: Target; clientHeaders: Readonly<Record<string, string>>; version?: string | undefined }): {
    url: string;
    headers: Record<string, string>;
  };
  /** A caller's text frame as the upstream gets it: names of models exchanged, every other byte as it was. The same object where nothing changes. */
  rewrite(frame: Buffer, target: Pick<Target, 'upstreamModelId'>): Buffer;
  /** null: nothing that is observed. Unreadable frames are none. */
  readAsk(frame: Buffer): RealtimeAsk | null;
  readNotice(frame: Buffer): RealtimeNotice | null;
  /** The frame that gives a session the settings that its caller stored beforehand. */
  writeSettings(settings: Readonly<Record<string, unknown>>): string;
  /** The model that such settings name. */
  modelOf(settings: unknown): string | undefined;
  /** An error of the gateway's own as a frame, for a session whose handshake was accepted; null: the close says it. */
  writeError(error: { code: string; message: string; status: number }, eventId: string): string | null;
  /** What a close before the session has begun says, where the protocol has no other way to tell errors. */
  readClose?(code: number, reason: string): UpstreamFault;
  /** Frames are read in binary messages as in those of text. */
  jsonInBinary?: true;
  /** Present where no address names the model. */
  firstFrame?: FirstFrame;
  /** The handle of the session that a caller's first frame resumes; undefined: it begins a new one. Absent: sessions end with their connection. */
  readHandle?(frame: Buffer): string | undefined;
}

/** How a caller names the model in a frame. */
export interface FirstFrame {
  /** null: this frame is not the one. Empty: it should have named a model, or comes too early. */
  readModel(frame: Buffer): string | null;
  /** The upstream says nothing until it has this frame, so that each of several upstreams gets it. */
  readonly opens: boolean;
  /** The error message for a caller that does not send it. */
  readonly missing: string;
}

/** Absent: upstreams of this protocol hold no sessions. */
export interface UpstreamRealtime {
  realtime?: Readonly<Partial<Record<RealtimeKind, RealtimeAdapter>>>;
}
