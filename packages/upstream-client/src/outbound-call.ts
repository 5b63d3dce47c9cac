/** One call as its caller sees it: the request, the callbacks of its reply, and the means to slow it down or give it up. */
import type { Timeouts } from '@model-gateway/contracts';
import type { Egress } from './egress/egress.ts';
import type { OutboundFault } from './fault.ts';

/** A request to an upstream. */
export interface OutboundRequest {
  method: string;
  /** http or https, without credentials or fragment. */
  url: string | URL;
  /** Path and query as they are sent; absent: those of `url`. */
  path?: string | undefined;
  /** What cannot be sent (control characters, characters above U+00FF, names of the connection) is left out and logged by name. */
  headers: Readonly<Record<string, string>>;
  /** In pieces: what is large is not put together for sending. */
  body?: Uint8Array | readonly Uint8Array[] | undefined;
  /** Proxy, DNS and TLS settings of the upstream; the ordinary way when absent. */
  egress?: Egress | undefined;
  /** The reply is handed on as it is packed (`content-encoding`), where its status is one of success; absent: it is unpacked. */
  packed?: boolean;
  /** Overrides the defaults one by one. */
  timeouts?: Timeouts | undefined;
  /** Largest reply head; default and most 64 KiB. */
  maxHeaderBytes?: number | undefined;
  /** Access key that is called for: it may hold a share of the origin's connections. Absent: not counted. */
  accessKey?: string | undefined;
}

/** Called in order: head?, data*, then exactly one of end or error; never before `send` has returned. Data and end come at the end of the turn that brought them. */
export interface OutboundHandlers {
  /** Names are lower case. Redirects arrive here like any other status: they are never followed. */
  head(status: number, headers: Record<string, string>): void;
  /** Bytes belong to the receiver. A few more may come after `pause`. */
  data(chunk: Buffer): void;
  end(): void;
  error(fault: OutboundFault): void;
}

/** A call under way. */
export interface OutboundCall {
  /** Stops reading from the upstream; its idle limit rests meanwhile. */
  pause(): void;
  resume(): void;
  /** Closes the connection. `error` is called with class `aborted` before this returns, unless the call had ended. */
  abort(reason: unknown): void;
}
