/** Questions over one connection, asked and answered. */
import { askShapes } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import type { AskSubject } from '../bus.ts';
import type { Deadline } from '../kit/deadlines.ts';
import { jsonOf, readError, readJson, type SocketStreamHost } from './host.ts';
import { type WireFrame, wireKind } from './wire.ts';

/** A question as it crosses the socket. */
export interface WireQuestion {
  subject: AskSubject;
  deadlineMs: number;
  request: unknown;
}

interface Asked extends Deadline {
  subject: AskSubject;
  resolve(reply: never): void;
  reject(error: GatewayError): void;
}

/** Every question has a deadline; a lost connection ends them all. */
export class SocketAsks {
  private readonly host: SocketStreamHost;
  private readonly mint: () => number;
  private readonly asked = new Map<number, Asked>();

  constructor(host: SocketStreamHost, mint: () => number) {
    this.host = host;
    this.mint = mint;
  }

  ask(question: WireQuestion): Promise<never> {
    const number = this.mint();
    return new Promise((resolve, reject) => {
      const { subject, deadlineMs } = question;
      const expire = (): void => this.take(number)?.reject(new GatewayError('timeout'));
      const asked: Asked = { index: -1, endsAt: 0, expire, subject, resolve, reject };
      this.asked.set(number, asked);
      this.host.deadlines.add(deadlineMs, asked);
      this.host.send(wireKind.ask, number, jsonOf(question));
    });
  }

  /** `answer` asks who serves the subject; what it throws, or rejects with, is the answer. */
  serve({ number, payload }: WireFrame, answer: (question: WireQuestion) => unknown): void {
    const failed = (error: unknown): void => {
      const wire = toGatewayError(error);
      if (wire !== error) this.host.logger.error({ error }, 'a handler threw');
      this.host.send(wireKind.askError, number, jsonOf(wire.toWire()));
    };
    const answered = (reply: unknown): void => this.host.send(wireKind.answer, number, jsonOf(reply));
    try {
      const question = readJson(payload) as WireQuestion;
      this.host.reader.read(`${question.subject} request`, askShapes[question.subject]?.request, () => question.request);
      const reply = answer(question) as PromiseLike<unknown> | null | undefined;
      if (typeof reply?.then === 'function') reply.then(answered, failed);
      else answered(reply);
    } catch (error) {
      failed(error);
    }
  }

  receive({ kind, number, payload }: WireFrame): void {
    const asked = this.take(number);
    if (!asked) return;
    try {
      if (kind === wireKind.askError) asked.reject(readError(this.host.reader, asked.subject, payload));
      else asked.resolve(this.host.reader.read(`${asked.subject} reply`, askShapes[asked.subject].reply, () => readJson(payload)) as never);
    } catch (error) {
      asked.reject(toGatewayError(error));
    }
  }

  loseAll(): void {
    for (const number of [...this.asked.keys()]) this.take(number)?.reject(new GatewayError('service_lost'));
  }

  private take(number: number): Asked | undefined {
    const asked = this.asked.get(number);
    this.asked.delete(number);
    if (asked) this.host.deadlines.delete(asked);
    return asked;
  }
}
