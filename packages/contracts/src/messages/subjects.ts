import type { AuditRow } from '../audit.ts';
import type { Job, ReplyHead, ReplyTail } from '../job.ts';
import type { Outcome } from '../outcome.ts';
import type { Plan, PlanRequest } from '../plan.ts';
import type { RealtimeJob, RealtimeTail, ShortLivedKeyWanted } from '../realtime.ts';
import type { RequestRow } from '../row.ts';
import type { CatalogDelta, CatalogRows, CatalogState } from '../snapshot.ts';
import type { SsoTokenReply, SsoTokenRequest } from '../sso.ts';
import type { BodiesToKeep } from './bodies.ts';
import type { GatherTopic } from './gather.ts';
import type { McpExchange, McpReplyHead, McpSecrets, McpSeenTool, McpToolTest, McpToolTested } from './mcp.ts';
import type { ScriptOutcome, ScriptRun } from './script.ts';
import type { TasksAnswer, TasksCall } from './tasks.ts';
import type { StreamTakeUp, TurnFinished, TurnsCall, TurnsCallTail, TurnsFound, TurnsRead, TurnsWrite, TurnsWritten } from './turns.ts';

/** Whose spending: an access key or a group, by name, in one currency. */
export interface SpendOwner {
  kind: 'key' | 'group';
  name: string;
  currency: string;
  from: number;
}

/** Small request/reply: subject → its request and reply. */
export interface AskSubjects {
  'router.plan': { request: PlanRequest; reply: Plan };
  /**
   * Money spent since `from` (ms since the epoch, the begin of a UTC day), in millionths, one figure for each owner; and in the same order what tasks
   * begun since then hold, which an earlier version does not say.
   */
  'stats.spent': { request: { owners: SpendOwner[] }; reply: { micros: number[]; tasks?: number[] } };
  /** Limits that several processes of one machine share: one rule, over one scope. Numbers as the rules give them; only between these processes. */
  'limits.run': { request: { rule: string; scope: string; values: (string | number)[] }; reply: { numbers: number[] } };
  /** The store of upstreams' tasks. */
  'stats.tasks': { request: TasksCall; reply: TasksAnswer };
  /** The current state of the configuration: a cheap poll that repairs lost change events. */
  'catalog.revision': { request: Record<string, never>; reply: CatalogState };
  /** How many scripts upstreams and models have: all that script runners know of the configuration, since each run brings its script along. */
  'catalog.scripts': { request: Record<string, never>; reply: { scripts: number } };
  /** For the MCP aggregator alone, which holds no master key. */
  'catalog.mcp-secrets': { request: Record<string, never>; reply: McpSecrets };
  /** What a server's tools are now: the names of those that are not as they were approved. `server`: its id. */
  'catalog.mcp-tools': { request: { server: string; tools: McpSeenTool[]; peek?: boolean }; reply: { changed: string[] } };
  'mcp.test-tool': { request: McpToolTest; reply: McpToolTested };
  /** The access token of a credential that came by login. The console renews it; what renews it never leaves the console. */
  'sso.token': { request: SsoTokenRequest; reply: SsoTokenReply };
  /** The public halves under which short-lived keys are signed: all that edges hold of them. `key`: base64url of 32 bytes (Ed25519). */
  'realtime.verification-keys': { request: Record<string, never>; reply: { keys: { id: string; key: string }[] } };
  /** A short-lived key for realtime sessions. */
  'realtime.mint-key': { request: ShortLivedKeyWanted; reply: { value: string } };
}

/** Streams: subject → request, head and tail. Bytes travel between head and tail, and with the request. */
export interface OpenSubjects {
  'translator.run': { request: Job; head: ReplyHead; tail: ReplyTail };
  /** The whole configuration as JSON bytes: the newest, or the requested revision while the console still has it (else the newest; `head` says which). */
  'catalog.load': { request: { revision?: number }; head: { revision: number }; tail: { bytes: number } };
  /** The same without secrets, for services that hold no master key. */
  'catalog.load-redacted': { request: { revision?: number }; head: { revision: number }; tail: { bytes: number } };
  /** One run of an admin's script over the body's bytes; the new texts come as one message. */
  'script.run': { request: ScriptRun; head: ScriptOutcome; tail: Record<string, never> };
  /** Bodies of one request, the texts behind the question; the tail comes when they are stored. */
  'stats.keep-bodies': { request: BodiesToKeep; head: Record<string, never>; tail: Record<string, never> };
  /** A change of stored turns; the head comes when it is committed. */
  'turns.write': { request: TurnsWrite; head: TurnsWritten; tail: Record<string, never> };
  /** A question about stored turns, the content as bytes. */
  'turns.read': { request: TurnsRead; head: TurnsFound; tail: Record<string, never> };
  /** A caller's call on stored turns or conversations, which reaches no model; some are answered by the upstream that keeps the turn. */
  'translator.turns': { request: TurnsCall; head: ReplyHead; tail: TurnsCallTail };
  /** A caller's WebSocket, connected to an upstream's. The head comes when an upstream has taken the session, or may still take it. */
  'translator.realtime': { request: RealtimeJob; head: Record<string, never>; tail: RealtimeTail };
  /** One HTTP exchange of a caller at `/mcp`. Opened to the aggregator that a session's id names, else to any. */
  'mcp.exchange': { request: McpExchange; head: McpReplyHead; tail: Record<string, never> };
  /** The events of a reply that an edge keeps, from a position on. Opened to the edge whose name is in the stream's id. */
  'edge.stream': { request: StreamTakeUp; head: ReplyHead; tail: Record<string, never> };
  /** One HTTP/1.1 exchange with the console's own server, in both directions. */
  'console.http': { request: { remoteAddress: string }; head: Record<string, never>; tail: Record<string, never> };
}

/** A commit of the configuration. */
export interface CatalogChanged extends CatalogState {
  /** Revision before it. */
  previous: number;
  /** When that one was committed; absent as in `CatalogState`. */
  previousCommittedAt?: number | undefined;
  /** What changed since `previous`; absent when it would be too long. */
  delta?: CatalogDelta;
}

/** Events: fire and forget, or durable (acknowledged after the consumer committed them, de-duplicated by id). */
export interface EventSubjects {
  'catalog.changed': CatalogChanged;
  /** The same without secrets, for services that hold no master key. */
  'catalog.changed-redacted': CatalogChanged;
  'stats.request': RequestRow;
  /** The one kind of row that an MCP aggregator writes: a call of a tool. */
  'stats.tool': RequestRow;
  /** Somebody watches the live log: rows committed in the next seconds are published as `logs.rows`. */
  'logs.watch': Record<string, never>;
  /** Rows that were just committed; `dropped` further rows were too many to send. A row that replaced an earlier one is sent again. */
  'logs.rows': { rows: RequestRow[]; dropped: number };
  /** What the console records. */
  'audit.record': AuditRow;
  /** The one kind of record that an edge may write: an access key asked for what it may not use. */
  'audit.violation': AuditRow;
  /** What callers did with tools. */
  'audit.tool': AuditRow;
  /** Sessions of a console user ended, or what the user may do changed: replicas forget what they remember of them. */
  'console.user-changed': { userId: string };
  /** A turn's ending that the store could not take at once. */
  'turns.finished': TurnFinished;
  /** A translator works on stored turns: sent every two seconds while it does. */
  'turns.alive': { holder: string };
  /** A background turn was cancelled: who runs it stops. */
  'turns.cancelled': { id: string };
  /** Outcomes of attempts, for every router. */
  'router.outcome': { outcomes: Outcome[] };
  /** An admin wants the tools of an MCP server, by name, asked for again. */
  'mcp.refresh': { server: string };
  /** A question to all live processes that know a topic, their answers, and the heartbeat that identifies them. */
  'gather.ask': { id: string; topic: GatherTopic; request: unknown };
  'gather.answer': { id: string; process: string; answer: unknown };
  'gather.here': { process: string; topics: GatherTopic[] };
}

export const durableSubjects = [
  'stats.request',
  'stats.tool',
  'audit.record',
  'audit.violation',
  'audit.tool',
  'turns.finished',
] as const satisfies readonly (keyof EventSubjects)[];
export type DurableSubject = (typeof durableSubjects)[number];

/** Where events went in the version before they had a subject of their own: there they go where the bus server's configuration is still that version's. */
export const earlierSubjects: Readonly<Partial<Record<DurableSubject, DurableSubject>>> = { 'stats.tool': 'stats.request' };

export type { CatalogRows };
