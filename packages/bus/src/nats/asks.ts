/** Questions over our own inbox: one map and one shared tick instead of a subscription, a timer and a look-up per question. */
import { askShapes, type ErrorWire, errorShape, frameKind } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/errors';
import { Directory } from '@model-gateway/roster';
import type { AskSubject } from '../bus.ts';
import { InFlight } from '../kit/in-flight.ts';
import type { BusLogger } from '../kit/logger.ts';
import type { MessageReader } from '../kit/message-reader.ts';
import { tickMs } from './clock.ts';
import { asBuffer, type Frame, frameMark, frameOverhead, jsonBytes, readFrame, readJson, u32, writeFrame } from './frame.ts';
import { mintStreamId, streamKey } from './stream-id.ts';
import { answerSubject, frameSubject, isInbox, subjectOf } from './subjects.ts';
import { cutUnit, UnitReader } from './units.ts';

export interface AsksHost {
  readonly logger: BusLogger;
  readonly reader: MessageReader;
  readonly now: number;
  readonly inbox: string;
  readonly inboxBytes: Uint8Array;
  readonly cap: number;
  publish(subject: string, frame: Uint8Array, reply?: string): boolean;
  fenced(frames: number): void;
}

interface Asked {
  key: number;
  subject: AskSubject;
  expiresAt: number;
  resolve: (reply: never) => void;
  reject: (error: GatewayError) => void;
  units: UnitReader;
  next: number;
}

type AskHandler = (request: unknown, info: { deadlineMs: number }) => unknown;

export class Asks {
  /** Questions of ours that wait, and questions of others being answered. */
  readonly inFlight = new InFlight();
  private readonly host: AsksHost;
  private readonly asked = new Directory<Asked>();

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
      // The clock may be a tick behind, and a question must not expire early.
      this.asked.set(key, { key, subject, expiresAt: host.now + deadlineMs + tickMs, resolve, reject, units: new UnitReader(), next: 0 });
      this.inFlight.enter();
      if (!host.publish(subjectOf(subject), frame, answerSubject(host.inbox, key))) this.fail(key, new GatewayError('service_unavailable'));
    });
  }

  /** A reply, or the callee's error. */
  hear(frame: Frame): void {
    const key = streamKey(frame.number, frame.salt);
    const asked = this.asked.get(key);
    if (!asked || frame.seq !== asked.next) return this.host.fenced(1);
    asked.next++;
    try {
      const unit = asked.units.add(frame);
      if (!unit) return;
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

  /** Whether the id was a question's: the server found nobody who listens. */
  noResponders(key: number): boolean {
    return this.fail(key, new GatewayError('service_unavailable'));
  }

  tick(): void {
    for (const { key, expiresAt } of this.asked.values()) if (expiresAt <= this.host.now) this.fail(key, new GatewayError('timeout'));
  }

  loseAll(): void {
    for (const { key } of this.asked.values()) this.fail(key, new GatewayError('service_lost'));
  }

  /** Serves one question; the answer goes to the asker's inbox. */
  answer(subject: AskSubject, handler: AskHandler, data: Uint8Array, door: InFlight): void {
    const frame = readFrame(data);
    if (frame?.kind !== frameKind.open || frame.payload.length < 4 || !isInbox(frame.inbox)) return this.host.fenced(1);
    const payload = asBuffer(frame.payload);
    try {
      const reply = handler(
        this.host.reader.read(`${subject} request`, askShapes[subject].request, () => readJson(payload, 4)),
        { deadlineMs: payload.readUInt32LE(0) },
      );
      if (typeof (reply as PromiseLike<unknown> | null)?.then === 'function') this.answerLater(frame, reply as PromiseLike<unknown>, door);
      else this.reply(frame, frameKind.tail, reply);
    } catch (error) {
      this.replyError(frame, error);
    }
  }

  private answerLater(frame: Frame, reply: PromiseLike<unknown>, door: InFlight): void {
    door.enter();
    this.inFlight.enter();
    const leave = () => {
      door.leave();
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
      host.publish(subject, writeFrame({ kind, flags: 0, marks, attempt: 0, number: to.number, salt: to.salt, seq: seq++ }, undefined, part.parts));
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

/** Room for payload in a message of the server's size, at most the frame cap. */
export const payloadCap = (frameCap: number, maxPayload: number, inbox: Uint8Array): number =>
  Math.max(1024, Math.min(frameCap, maxPayload - frameOverhead(inbox) - 512));
