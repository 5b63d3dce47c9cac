/** The one expectation of every stream, whatever happened to it: it ended as its protocol says. */
import { expect } from '@jest/globals';
import { speakers, validate } from '../../packages/protocols/test/laws/harness.ts';
import type { Exchange } from './callers.ts';

/** A stream that ended properly in its own terms; `warned` tells whether it had to say `_gateway_warning`. */
export function expectProperEnd(one: Exchange, warned: boolean): void {
  const speaker = speakers.find(({ id }) => id === one.client)!;
  const who = one.client;
  expect({ who, status: one.status, ending: one.ending }).toEqual({ who, status: 200, ending: 'complete' });
  expect({ who, faults: validate(speaker, one.text) }).toEqual({ who, faults: [] });
  expect({ who, warned: one.text.includes('"_gateway_warning"') }).toEqual({ who, warned });
}
