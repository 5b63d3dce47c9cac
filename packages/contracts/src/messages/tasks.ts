/**
 * Tasks of upstreams: work that goes on after the call that began it, and is asked about later. The stats service keeps them; translators begin them, look
 * at unfinished ones until they end, so that each is billed, and answer callers. The owner is the id of the access key: for another one a task does not exist.
 */
import type { ProtocolId } from '../protocol-id.ts';
import type { TurnAtUpstream } from './turns.ts';

/** `lost`: the upstream does not know it any more. */
export const taskStatuses = ['running', 'succeeded', 'failed', 'canceled', 'lost'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

/** What is known of a task when it begins. */
export interface TaskFacts {
  /** Minted by the gateway. */
  id: string;
  owner: string;
  /** The upstream's name for it. */
  upstreamTask: string;
  /** The account that took it: it is asked with no other. */
  at: TurnAtUpstream;
  /** Milliseconds since the epoch. */
  createdAt: number;
  /** What the request reserved of its caller's budgets, in millionths by currency: held until the task ends. Absent: nothing. */
  reserved?: Record<string, number>;
  /** Of the request that began it: for the row of its end. */
  request: {
    id: string;
    clientRequestId: string | null;
    accessKey: string;
    keyGroup: string;
    /** The name that the caller used. */
    requestedModel: string;
    /** What that name stood for, by its canonical name. Absent in tasks of an earlier version. */
    model?: string;
    upstreamModelId: string | null;
    clientProtocol: ProtocolId;
    upstreamProtocol: ProtocolId | null;
    clientIp: string | null;
    userAgent: string | null;
    sessionId: string | null;
  };
}

/** A task as it is kept. */
export interface KeptTask {
  facts: TaskFacts;
  status: TaskStatus;
  /** What the upstream said last of a task that has ended, as JSON text with the gateway's id in it; null while it runs. */
  reply: string | null;
}

/** What is asked of the store of tasks. */
export type TasksCall =
  | { kind: 'add'; task: TaskFacts }
  | { kind: 'find'; owner: string; id: string }
  /** Unfinished tasks that are due, at most `limit`: they are nobody else's for `leaseMs`. */
  | { kind: 'lease'; limit: number; leaseMs: number }
  /** It is due again after so long. */
  | { kind: 'release'; owner: string; id: string; afterMs: number }
  /** Changes nothing where it has ended already. */
  | { kind: 'end'; owner: string; id: string; status: Exclude<TaskStatus, 'running'>; reply: string };

export interface TasksAnswer {
  /** What was found or leased. */
  tasks: KeptTask[];
}
