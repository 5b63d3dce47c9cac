/**
 * Questions over our own inbox: one map and one shared tick instead of a subscription, a timer and a look-up per question. A question that nobody
 * answered soon is asked again of another process, and the first answer wins: questions are idempotent.
 */

import { NumberMap } from '@model-gateway/collections';
import { askShapes, type ErrorWire, errorShape, frameKind } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import type { AskSubject } from '../bus.ts';
import { tickMs } from '../kit/clock.ts';
import { InFlight } from '../kit/in-flight.ts';
import type { BusLogger } from '../kit/logger.ts';
import type { MessageReader } from '../kit/message-reader.ts';
import { asBuffer, type Frame, frameMark, frameOverhead, jsonBytes, readJson, u32, writeFrame } from './frame.ts';
import { silenceMs } from './peers.ts';
import { callSubject, type Servers } from './servers.ts';
import { mintStreamId, streamKey } from './stream-id.ts';
import { answerSubject, frameSubject, isInbox } from './subjects.ts';
import { cutUnit, UnitReader } from './units.ts';

/** What questions need of their bus. */
export interface AsksHost {
  readonly logger: BusLogger;
  readonly reader: MessageReader;
  readonly servers: Servers;
  readonly now: number;
  readonly inbox: string;
  readonly inboxBytes: Uint8Array;
  readonly cap: number;
  publish(subject: string, frame: Uint8Array, reply?: string): boolean;
  droppedBefore(frames: number): void;
}

/** After this long without an answer another process is asked, and after as long again, and so on: each wait is twice the one before. */
const againMs = 250;
/** When nobody serves the subject any more: time for a process asked earlier to answer before it leaves. */
const partingMs = 1000;

interface Asked {
  key: number;
  subject: AskSubject;
  frame: Buffer;
  askedAt: number;
  expiresAt: number;
  resolve: (reply: never) => void;
  reject: (error: GatewayError) => void;
  /** Processes that were asked by name. */
  tried: Set<string>;
  /** The process that was asked last; null: the queue group chose. */
  last: string | null;
  /** Messages that may have been received. */
  out: number;
  /** When another process is asked, and how long after the one before. */
  againAt: number;
  waitMs: number;
  /** Set when the server found nobody who serves the subject. */
  deserted: boolean;
  /** Parts of long answers, by sender: two may answer at once. */
  parts: Map<string, { units: UnitReader; next: number }> | null;
}

type AskHandler = (request: unknown, info: { deadlineMs: number }) => unknown;

/** The questions of a process, asked and answered. */
export class Asks {
  /** Questions of ours that wait, and questions of others being answered. */
  readonly inFlight = new InFlight();
  private readonly host: AsksHost;
  private readonly asked = new NumberMap<Asked>();

  constructor(host: AsksHost) {
    this.host = host;
  }

  ask(subject: AskSubject, request: unknown, deadlineMs: number): Promise<never> {
    const { host } = this;
    const { number, salt } = mintStreamId();
    const key = streamKey(number, salt);
    const json = jsonBytes(request);
    if (json.length + 4 > host.cap) return Promise.reject(new GatewayError('payload_too_large'));
    const header = { kind: frameKind.open, flags: 0, marks: frameMark.toCallee | frameMark.ask, attempt: 0, number, salt, seq: 0 };
    const frame = writeFrame(header, host.inboxBytes, [u32(deadlineMs), json]);
    return new Promise((resolve, reject) => {
      const { now } = host;
      // The clock may be a tick behind, and a question must not expire early.
      const expiresAt = now + deadlineMs + tickMs;
      const againAt = now + againMs + tickMs / 2;
      const asked: Asked = {
        key,
        subject,
        frame,
        askedAt: now,
        expiresAt,
        resolve,
        reject,
        tried: new Set(),
        last: null,
        out: 0,
        againAt,
        waitMs: againMs,
        deserted: false,
        parts: null,
      };
      this.asked.set(key, asked);
      this.inFlight.enter();
      this.send(asked, host.servers.choose(subject));
    });
  }

  /** A reply, or the callee's error. */
  receive(frame: Frame): void {
    const key = streamKey(frame.number, frame.salt);
    const asked = this.asked.get(key);
    if (asked && frame.inbox !== '') this.host.servers.received(asked.subject, frame.inbox);
    const unit = asked && this.unitOf(asked, frame);
    if (!asked || unit === undefined) return this.host.droppedBefore(1);
    if (unit === null) return;
    try {
      const { subject } = asked;
      if (frame.kind === frameKind.error) {
        this.fail(key, GatewayError.fromWire(this.host.reader.read(`${subject} error`, errorShape, () => readJson(unit)) as ErrorWire));
        return;
      }
      const reply = this.host.reader.read(`${subject} reply`, askShapes[subject].reply, () => readJson(unit));
      this.end(key);
      asked.resolve(reply as never);
    } catch (error) {
      this.fail(key, toGatewayError(error));
    }
  }

  /** Whether the id was a question's: the server found nobody where it was sent. */
  noResponders(key: number): boolean {
    const asked = this.asked.get(key);
    if (!asked) return false;
    const { last, subject } = asked;
    asked.out--;
    if (last !== null) {
      this.host.servers.gone(subject, last);
      this.send(asked, this.host.servers.choose(subject, asked.tried));
    } else if (asked.out === 0) return this.fail(key, new GatewayError('service_unavailable'));
    else {
      // The process asked before has left, has died, or answers before it leaves.
      asked.deserted = true;
      asked.againAt = Number.POSITIVE_INFINITY;
      asked.expiresAt = Math.min(asked.expiresAt, this.host.now + partingMs);
    }
    return true;
  }

  tick(): void {
    const { now, servers } = this.host;
    for (const asked of this.asked.values()) {
      if (asked.expiresAt <= now) this.fail(asked.key, new GatewayError(asked.deserted ? 'service_unavailable' : 'timeout'));
      else if (now - asked.askedAt > silenceMs && servers.silentSince(asked.subject, asked.askedAt)) this.fail(asked.key, new GatewayError('service_lost'));
      else if (asked.againAt <= now) this.askAgain(asked);
    }
  }

  loseAll(): void {
    for (const { key } of this.asked.values()) this.fail(key, new GatewayError('service_lost'));
  }

  /** Serves one question; the answer goes to the asker's inbox. */
  answer(subject: AskSubject, handler: AskHandler, frame: Frame, inFlight: InFlight): void {
    if (frame.kind !== frameKind.open || frame.payload.length < 4 || !isInbox(frame.inbox)) return this.host.droppedBefore(1);
    const payload = asBuffer(frame.payload);
    try {
      const request = this.host.reader.read(`${subject} request`, askShapes[subject].request, () => readJson(payload, 4));
      const reply = handler(request, { deadlineMs: payload.readUInt32LE(0) });
      if (typeof (reply as PromiseLike<unknown> | null)?.then === 'function') this.answerLater(frame, reply as PromiseLike<unknown>, inFlight);
      else this.reply(frame, frameKind.tail, reply);
    } catch (error) {
      this.replyError(frame, error);
    }
  }

  private send(asked: Asked, to: string | null): void {
    const { host } = this;
    asked.last = to;
    asked.out++;
    if (to !== null) asked.tried.add(to);
    if (!host.publish(callSubject(asked.subject, to), asked.frame, answerSubject(host.inbox, asked.key)))
      this.fail(asked.key, new GatewayError('service_unavailable'));
  }

  private askAgain(asked: Asked): void {
    const { servers, now } = this.host;
    if (asked.last !== null) servers.missed(asked.last);
    asked.waitMs *= 2;
    asked.againAt = now + asked.waitMs;
    this.send(asked, servers.choose(asked.subject, asked.tried));
  }

  /** The whole of an answer with its last part; null while more is to come, undefined when the frame fits nowhere. */
  private unitOf(asked: Asked, frame: Frame): Uint8Array | null | undefined {
    if (frame.seq === 0 && (frame.marks & frameMark.more) === 0) return frame.payload;
    asked.parts ??= new Map();
    const known = asked.parts.get(frame.inbox);
    const part = known ?? { units: new UnitReader(), next: 0 };
    if (frame.seq !== part.next) return undefined;
    if (!known) asked.parts.set(frame.inbox, part);
    part.next++;
    try {
      return part.units.add(frame);
    } catch {
      asked.parts.delete(frame.inbox);
      return undefined;
    }
  }

  private answerLater(frame: Frame, reply: PromiseLike<unknown>, inFlight: InFlight): void {
    inFlight.enter();
    this.inFlight.enter();
    const leave = () => {
      inFlight.leave();
      this.inFlight.leave();
    };
    reply
      .then(
        (value) => this.reply(frame, frameKind.tail, value),
        (error) => this.replyError(frame, error),
      )
      .then(leave, leave);
  }

  private replyError(frame: Frame, error: unknown): void {
    const answer = toGatewayError(error);
    if (answer !== error) this.host.logger.error({ error }, 'a handler threw');
    this.reply(frame, frameKind.error, answer.toWire());
  }

  private reply(to: Frame, kind: number, value: unknown): void {
    const { host } = this;
    const subject = frameSubject(to.inbox);
    let seq = 0;
    for (const part of cutUnit([jsonBytes(value)], host.cap)) {
      const marks = frameMark.ask | (part.more ? frameMark.more : 0);
      // With our inbox: the asker sends the next question to the process that answers.
      host.publish(subject, writeFrame({ kind, flags: 0, marks, attempt: 0, number: to.number, salt: to.salt, seq: seq++ }, host.inboxBytes, part.parts));
    }
  }

  private fail(key: number, error: GatewayError): boolean {
    const asked = this.asked.get(key);
    if (!asked) return false;
    this.end(key);
    asked.reject(error);
    return true;
  }

  private end(key: number): void {
    if (this.asked.delete(key)) this.inFlight.leave();
  }
}

/** Payload bytes of a message of the server's maximum size, at most the frame cap. */
export const payloadCap = (frameCap: number, maxPayload: number, inbox: Uint8Array): number =>
  Math.max(1024, Math.min(frameCap, maxPayload - frameOverhead(inbox) - 512));
