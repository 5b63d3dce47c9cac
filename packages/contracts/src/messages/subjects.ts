import type { AuditRow } from '../audit.ts';
import type { Job, ReplyHead, ReplyTail } from '../job.ts';
import type { Outcome } from '../outcome.ts';
import type { Plan, PlanRequest } from '../plan.ts';
import type { RequestRow } from '../row.ts';
import type { CatalogDelta, CatalogRows } from '../snapshot.ts';
import type { BodiesToKeep } from './bodies.ts';
import type { GatherTopic } from './gather.ts';
import type { ScriptOutcome, ScriptRun } from './script.ts';

/** Whose money: an access key or a group, by name, in one currency. */
export interface SpendOwner {
  kind: 'key' | 'group';
  name: string;
  currency: string;
  from: number;
}

/** Small request/reply: subject → its request and reply. */
export interface AskSubjects {
  'router.plan': { request: PlanRequest; reply: Plan };
  /** Cheap repair poll of the snapshot. */
  /** Money spent since `from` (ms since the epoch, the begin of a UTC day), in millionths, one figure for each owner. */
  'stats.spent': { request: { owners: SpendOwner[] }; reply: { micros: number[] } };
  'catalog.revision': { request: Record<string, never>; reply: { revision: number } };
}

/** Streams: subject → request, head and tail. Bytes travel between head and tail, and with the request. */
export interface OpenSubjects {
  'translator.run': { request: Job; head: ReplyHead; tail: ReplyTail };
  /** The whole configuration as JSON bytes: the newest, or this revision while the console still has it (the newest otherwise; `head` tells). */
  'catalog.load': { request: { revision?: number }; head: { revision: number }; tail: { bytes: number } };
  /** The same without secrets, for services that hold no master key. */
  'catalog.load-redacted': { request: { revision?: number }; head: { revision: number }; tail: { bytes: number } };
  /** One run of an admin's script over the body's bytes; the new texts come as one message. */
  'script.run': { request: ScriptRun; head: ScriptOutcome; tail: Record<string, never> };
  /** Bodies of one request, the texts behind the question; the tail comes when they are stored. */
  'stats.keep-bodies': { request: BodiesToKeep; head: Record<string, never>; tail: Record<string, never> };
  /** One HTTP/1.1 exchange with the console's own server, both ways. */
  'console.http': { request: { remoteAddress: string }; head: Record<string, never>; tail: Record<string, never> };
}

/** News: fire and forget, or durable (committed before acknowledged, de-duplicated by id). */
export interface EventSubjects {
  /** `delta`: what changed since `previous`; absent when it is long. */
  'catalog.changed': { revision: number; previous: number; delta?: CatalogDelta };
  /** The same without secrets, for services that hold no master key. */
  'catalog.changed-redacted': { revision: number; previous: number; delta?: CatalogDelta };
  'stats.request': RequestRow;
  /** Somebody looks on: what is committed in the next seconds is told as `logs.rows`. */
  'logs.watch': Record<string, never>;
  /** Rows that were just committed; `dropped` more were too many to tell. A row that replaced another comes again. */
  'logs.rows': { rows: RequestRow[]; dropped: number };
  /** What the console records. */
  'audit.record': AuditRow;
  /** The one kind of record that an edge may write: an access key asked for what it may not use. */
  'audit.violation': AuditRow;
  /** Sessions of a console user ended, or what the user may do changed: replicas forget what they remember of them. */
  'console.user-changed': { userId: string };
  /** Every router hears how attempts went. */
  'router.outcome': { outcomes: Outcome[] };
  /** A question to all live processes that know of a topic, their answers, and the sign of life that tells who they are. */
  'gather.ask': { id: string; topic: GatherTopic; request: unknown };
  'gather.answer': { id: string; process: string; answer: unknown };
  'gather.here': { process: string; topics: GatherTopic[] };
}

export const durableSubjects = ['stats.request', 'audit.record', 'audit.violation'] as const satisfies readonly (keyof EventSubjects)[];
export type DurableSubject = (typeof durableSubjects)[number];

export type { CatalogRows };
