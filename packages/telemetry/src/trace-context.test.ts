import { describe, expect, test } from '@jest/globals';
import { parseTraceparent, printTraceparent } from './trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

describe('traceparent', () => {
  test('what is right is read', () => {
    expect(parseTraceparent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId, sampled: true });
    expect(parseTraceparent(`00-${traceId}-${spanId}-00`)).toEqual({ traceId, spanId, sampled: false });
    // Flags of later versions say nothing here, and a later version may say more behind a dash.
    expect(parseTraceparent(`00-${traceId}-${spanId}-fe`)).toMatchObject({ sampled: false });
    expect(parseTraceparent(`cc-${traceId}-${spanId}-03-what-comes`)).toMatchObject({ sampled: true });
    expect(parseTraceparent(printTraceparent(traceId, spanId))).toEqual({ traceId, spanId, sampled: true });
  });

  test.each([
    '',
    'garbage',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    `cc-${traceId}-${spanId}-01more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    ` 00-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-0g`,
    `00_${traceId}_${spanId}_01`,
    `cc-${traceId}-${spanId}-01-${'x'.repeat(600)}`,
  ])('%j is none', (text) => expect(parseTraceparent(text)).toBeUndefined());
});
