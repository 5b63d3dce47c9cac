/** What the parts of the endpoint share. */
import type { McpExchange, Snapshot } from '@model-gateway/contracts';
import type { Logger } from '@model-gateway/telemetry';
import type { Era } from '../protocol/versions.ts';
import type { Records } from '../records.ts';
import type { Registry } from '../servers/registry.ts';
import type { McpServer } from '../servers/server.ts';
import type { Views } from '../tools/views.ts';
import type { Caller } from './caller.ts';
import type { HeldCalls } from './conversation.ts';
import type { Reply } from './reply.ts';
import type { Session, Sessions } from './sessions.ts';

export interface EndpointContext {
  registry: Registry;
  views: Views;
  sessions: Sessions;
  records: Records;
  logger: Logger;
  snapshot(): Snapshot | null;
  /** The gateway's own limit; 0: none. */
  maxToolTokens: number;
  /** Of the gateway, sent to servers and callers. */
  version: string;
  /** Requests under way that a caller may cancel, by session or access key and id. */
  running: Map<string, AbortController>;
  /** Calls that wait for what their servers asked callers of the newer era for. */
  held: HeldCalls;
}

/** One request of a caller, with all that is known of it. */
export interface Asked {
  exchange: McpExchange;
  caller: Caller;
  /** The one server that is spoken to; null: all of them. */
  scope: McpServer | null;
  era: Era;
  session: Session | null;
  reply: Reply;
  /** Aborted when the caller has left, or cancels. */
  signal: AbortSignal;
  method: string;
  /** JSON text. */
  params: string | undefined;
  id: string;
}
