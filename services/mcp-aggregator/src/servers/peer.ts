/** What a server is to the rest of the aggregator, whichever revision it speaks. */
import type { Message } from '../protocol/json-rpc.ts';
import type { Era } from '../protocol/versions.ts';

/** What a server said of itself. */
export interface PeerInfo {
  version: string;
  capabilities: Readonly<Record<string, unknown>>;
  instructions: string | undefined;
}

/** A request to a server; the id is the peer's own. */
export interface PeerRequest {
  method: string;
  /** JSON text, in the terms of the server's era. */
  params: string | undefined;
  /** What `Mcp-Name` says: a tool, a prompt, the address of a resource. */
  name?: string | undefined;
  /** Further headers of the request, in lower case. */
  headers?: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** Notifications that belong to this request, and what the server asks of the caller meanwhile. */
  onMessage?(message: Message & { kind: 'notification' | 'request' }): void;
  /** How long the server may be silent. */
  silenceMs: number;
}

/** How a server answered. `status`: of the reply that carried an error. `fault`: the caller has a result, and the server is not well by it. */
export type PeerReply = { kind: 'result'; result: string; fault?: string } | { kind: 'error'; error: string; code: number; status: number };

/** A connection to a server, or the place of one: some need none. */
export interface Peer {
  readonly era: Era;
  readonly info: PeerInfo;
  /** Whether the server keeps something for this connection: then it is nobody else's. */
  readonly hasState: boolean;
  /** Rejects with ServerFault, also when `signal` is aborted; the server gets a cancellation where the era has one. */
  request(request: PeerRequest): Promise<PeerReply>;
  notify(method: string, params: string | undefined): Promise<void>;
  /** The caller's answer to what the server asked: a whole JSON-RPC message. */
  answer(message: string): Promise<void>;
  close(): Promise<void>;
}

/** Called with notifications that belong to no request. */
export type OnNotification = (message: Message & { kind: 'notification' }) => void;

/** Where a server is, and what it is sent with each request: read anew each time, so that a changed credential counts at once. */
export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** For connections, handshakes and probes. */
export const handshakeMs = 10_000;
/** For a call that says nothing. */
export const callSilenceMs = 300_000;
