/** Copies for the strict mode of tests: what would not survive a real bus, or is changed after it was sent, shows up here. */

import type { Shape } from '@model-gateway/contracts';
import { checkShape } from '../kit/message-reader.ts';

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

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
