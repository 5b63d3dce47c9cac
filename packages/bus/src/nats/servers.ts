/**
 * Which processes serve a subject. The server's queue group gives each message to anybody, to a stopped process too; so once the processes are known we
 * choose ourselves, and leave out one that did not answer until it sends something again.
 */
import { frameKind } from '@model-gateway/contracts';
import type { AskSubject, OpenSubject } from '../bus.ts';
import { type Frame, writeFrame } from './frame.ts';
import { silenceMs } from './peers.ts';
import { directSubject, frameSubject, isInbox, subjectOf, toAllSubject } from './subjects.ts';

type CallSubject = AskSubject | OpenSubject;

/** How often those who serve what we use are asked whether they are there. */
const findMs = 1000;
/** A subject that was not used for this long is looked after no more. */
const unusedMs = 60_000;
/** Left out at least this long after it did not answer. */
const leftOutMs = 2000;
/** A process that sent nothing for this long is forgotten. */
const forgottenMs = 10_000;
/** Processes serving one subject; announcements beyond this are ignored. */
const maxServers = 1000;

interface Server {
  inbox: string;
  lastSeenAt: number;
  /** Not chosen before this, nor before it sends something again. */
  leftOutUntil: number;
  missed: boolean;
}

interface Served {
  byInbox: Map<string, Server>;
  usedAt: number;
  soughtAt: number;
  turn: number;
  /** A process has announced once that it serves this, so that silence means something. */
  known: boolean;
}

/** What the choice of processes needs of the bus. */
export interface ServersHost {
  readonly now: number;
  readonly inboxBytes: Uint8Array;
  publish(subject: string, frame: Uint8Array): boolean;
}

const noStream = { flags: 0, marks: 0, attempt: 0, number: 0, salt: 0, seq: 0 };

/** The processes known to serve the subjects that this process uses. */
export class Servers {
  private readonly host: ServersHost;
  private readonly bySubject = new Map<CallSubject, Served>();

  constructor(host: ServersHost) {
    this.host = host;
  }

  /** The process to send to next, round-robin; `not`: those that have it already. null: let the queue group choose. */
  choose(subject: CallSubject, not?: ReadonlySet<string>): string | null {
    const served = this.use(subject);
    const fit = [...served.byInbox.values()].filter((server) => this.isThere(server) && !not?.has(server.inbox));
    return fit.length === 0 ? null : fit[served.turn++ % fit.length]!.inbox;
  }

  /** A process has said something about this subject. */
  received(subject: CallSubject, inbox: string): void {
    const server = this.bySubject.get(subject)?.byInbox.get(inbox);
    if (!server) return;
    server.lastSeenAt = this.host.now;
    server.missed = false;
  }

  /** It did not answer in time: whatever it serves is asked of others for a while. */
  missed(inbox: string): void {
    for (const { byInbox } of this.bySubject.values()) {
      const server = byInbox.get(inbox);
      if (!server) continue;
      server.missed = true;
      server.leftOutUntil = this.host.now + leftOutMs;
    }
  }

  /** The server found nobody there: the process is gone, or serves this no more. */
  gone(subject: CallSubject, inbox: string): void {
    this.bySubject.get(subject)?.byInbox.delete(inbox);
  }

  /** Whether no server of this subject sent anything since, though there was one once. */
  silentSince(subject: CallSubject, since: number): boolean {
    const served = this.bySubject.get(subject);
    if (!served?.known) return false;
    for (const { lastSeenAt } of served.byInbox.values()) if (lastSeenAt > since) return false;
    return true;
  }

  /** A `here`: who serves what we asked for, and can be reached by name, since the question reached it so. */
  receive({ payload, inbox }: Frame): void {
    const subject = Buffer.from(payload).toString('latin1', 0, 100) as CallSubject;
    const served = this.bySubject.get(subject);
    if (!served || !isInbox(inbox)) return;
    served.known = true;
    if (served.byInbox.has(inbox)) this.received(subject, inbox);
    else if (served.byInbox.size < maxServers) served.byInbox.set(inbox, { inbox, lastSeenAt: this.host.now, leftOutUntil: 0, missed: false });
  }

  /** Answers a `find`. */
  answer(subject: CallSubject, frame: Frame): void {
    if (!isInbox(frame.inbox)) return;
    this.host.publish(frameSubject(frame.inbox), writeFrame({ ...noStream, kind: frameKind.here }, this.host.inboxBytes, [Buffer.from(subject, 'latin1')]));
  }

  tick(): void {
    const { now } = this.host;
    for (const [subject, served] of this.bySubject) {
      if (now - served.usedAt > unusedMs) this.bySubject.delete(subject);
      else if (now - served.soughtAt >= findMs) this.seek(subject, served);
      for (const server of served.byInbox.values()) if (now - server.lastSeenAt > forgottenMs) served.byInbox.delete(server.inbox);
    }
  }

  /** The connection is another one: everybody has a new inbox, or may have. */
  reset(): void {
    this.bySubject.clear();
  }

  private isThere({ lastSeenAt, leftOutUntil, missed }: Server): boolean {
    const { now } = this.host;
    return !missed && now >= leftOutUntil && now - lastSeenAt <= silenceMs;
  }

  private use(subject: CallSubject): Served {
    const { now } = this.host;
    const known = this.bySubject.get(subject);
    if (known) {
      known.usedAt = now;
      return known;
    }
    const fresh = { byInbox: new Map(), usedAt: now, soughtAt: now, turn: 0, known: false };
    this.bySubject.set(subject, fresh);
    this.seek(subject, fresh);
    return fresh;
  }

  private seek(subject: CallSubject, served: Served): void {
    served.soughtAt = this.host.now;
    this.host.publish(toAllSubject(subjectOf(subject)), writeFrame({ ...noStream, kind: frameKind.find }, this.host.inboxBytes));
  }
}

/** The subject of a call: one process, or the queue group. */
export const callSubject = (subject: CallSubject, inbox: string | null): string =>
  inbox === null ? subjectOf(subject) : directSubject(subjectOf(subject), inbox);
