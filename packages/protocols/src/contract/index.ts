/**
 * What the gateway knows about one wire protocol. Each file of this folder is one part of it; a protocol's adapter is the sum of its parts, and the
 * compiler tells which of them a new protocol lacks. Parts whose members are all optional are features that not every protocol has.
 */
import type { ProtocolId } from '@model-gateway/contracts';
import type { ClientErrors, UpstreamErrors } from './errors.ts';
import type { ClientHostedTools } from './hosted-tools.ts';
import type { ClientLimits } from './limits.ts';
import type { ClientModels, UpstreamModels } from './models.ts';
import type { UpstreamRealtime } from './realtime.ts';
import type { ClientReplyCodec, UpstreamReplyCodec } from './reply-codec.ts';
import type { ClientRequestCodec, UpstreamRequestCodec } from './request-codec.ts';
import type { ClientRoutes } from './routes.ts';
import type { ClientScan } from './scan.ts';
import type { ClientSocket } from './socket.ts';
import type { ClientTerminator } from './stream-terminator.ts';
import type { UpstreamCalls } from './target.ts';
import type { UpstreamTasks } from './tasks.ts';
import type { ClientTestCall } from './test-call.ts';
import type { ClientTurns } from './turns.ts';
import type { ClientUnary, UpstreamUnary } from './unary.ts';
import type { UpstreamVerbatim } from './verbatim.ts';

export type * from '../socket-session.ts';
export type * from './audio.ts';
export type * from './errors.ts';
export type * from './form.ts';
export type * from './hosted-tools.ts';
export type * from './images.ts';
export type * from './limits.ts';
export type * from './models.ts';
export type * from './realtime.ts';
export type * from './reply-codec.ts';
export type * from './request-codec.ts';
export type * from './routes.ts';
export type * from './scan.ts';
export type * from './socket.ts';
export type * from './stream-terminator.ts';
export type * from './target.ts';
export type * from './tasks.ts';
export type * from './test-call.ts';
export type * from './turns.ts';
export type * from './unary.ts';
export type * from './verbatim.ts';

/** Everything the gateway knows about one wire protocol. Others receive a `Protocol`; nobody outside compares an id. */
export interface Protocol {
  id: ProtocolId;
  /** What it is for: conversations, one question and one answer, or sessions. All kinds share addresses, keys, errors and what the edge asks of a body. */
  kind: 'chat' | 'unary' | 'realtime';
  /** One line for the console: what users call it. */
  title: string;
  /** How callers speak it to us; absent for protocols that only upstreams speak. */
  client?: ClientAdapter;
  /** How we speak it to upstreams. */
  upstream?: UpstreamAdapter;
}

/** How callers speak a protocol to the gateway. */
export interface ClientAdapter
  extends ClientRoutes,
    ClientScan,
    ClientLimits,
    ClientRequestCodec,
    ClientReplyCodec,
    ClientErrors,
    ClientModels,
    ClientTerminator,
    ClientTestCall,
    ClientSocket,
    ClientHostedTools,
    ClientTurns,
    ClientUnary {}

/** How the gateway calls upstreams of a protocol. */
export interface UpstreamAdapter
  extends UpstreamCalls,
    UpstreamRequestCodec,
    UpstreamReplyCodec,
    UpstreamErrors,
    UpstreamModels,
    UpstreamTasks,
    UpstreamVerbatim,
    UpstreamUnary,
    UpstreamRealtime {}
