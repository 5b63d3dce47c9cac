/** Copies for the strict mode of tests: what would not survive a real bus, or is changed after it was sent, shows up here. */

import { deepFreeze, type OpenSubjects, openShapes, type Shape } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { OpenSubject } from '../bus.ts';
import { checkShape } from '../kit/message-reader.ts';
import { StreamCallee } from '../stream/callee.ts';
import { StreamCaller } from '../stream/caller.ts';

/** A frozen copy through JSON, as the wire would make it. */
export function strictCopy<T>(value: T): T {
  return value === undefined ? value : deepFreeze(JSON.parse(JSON.stringify(value)));
}

/** The same of a message that has to have a shape: what a real bus would refuse, a test learns of where it was sent. */
export function strictMessage<T>(what: string, shape: Shape | undefined, value: T): T {
  const copy = strictCopy(value);
  checkShape(what, shape, copy);
  return copy;
}

export const strictBytes = (bytes: Uint8Array): Uint8Array => bytes.slice();

/** A caller whose bytes are copied. */
export class StrictCaller<S extends OpenSubject> extends StreamCaller<S> {
  override send(bytes: Uint8Array, flags?: number): boolean {
    return super.send(strictBytes(bytes), flags);
  }
}

/** A callee whose messages are copied and checked where they are sent. */
export class StrictCallee<S extends OpenSubject> extends StreamCallee<S> {
  private readonly subject: S;

  constructor(subject: S, ...end: ConstructorParameters<typeof StreamCallee<S>>) {
    super(...end);
    this.subject = subject;
  }

  override head(head: OpenSubjects[S]['head']): void {
    super.head(this.strictHead(head));
  }

  override data(bytes: Uint8Array | string, flags?: number): boolean {
    return super.data(typeof bytes === 'string' ? bytes : strictBytes(bytes), flags);
  }

  override tail(tail: OpenSubjects[S]['tail']): void {
    super.tail(this.strictTail(tail));
  }

  override whole(head: OpenSubjects[S]['head'], bytes: Uint8Array, tail: OpenSubjects[S]['tail']): void {
    super.whole(this.strictHead(head), strictBytes(bytes), this.strictTail(tail));
  }

  override fail(error: GatewayError): void {
    super.fail(GatewayError.fromWire(error.toWire()));
  }

  private strictHead(head: OpenSubjects[S]['head']): OpenSubjects[S]['head'] {
    return strictMessage(`${this.subject} head`, openShapes[this.subject].head, head);
  }

  private strictTail(tail: OpenSubjects[S]['tail']): OpenSubjects[S]['tail'] {
    return strictMessage(`${this.subject} tail`, openShapes[this.subject].tail, tail);
  }
}
