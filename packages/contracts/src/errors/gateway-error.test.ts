/** The branded error: its table, and the trip over the bus and back. */
import { describe, expect, test } from '@jest/globals';
import { type ErrorCode, errorCodes, GatewayError, isGatewayError, toGatewayError } from './index.ts';

const codes = Object.keys(errorCodes) as ErrorCode[];
/** What the bus does to an error: JSON and nothing else. */
const cross = (error: GatewayError) => GatewayError.fromWire(JSON.parse(JSON.stringify(error.toWire())));

describe('the table', () => {
  test.each(codes)('%s has an error status and a sentence, which a bare error takes', (code) => {
    const entry = errorCodes[code];
    expect(entry.status).toBeGreaterThanOrEqual(400);
    expect(entry.status).toBeLessThan(600);
    expect(entry.message).toMatch(/^[A-Z].*\.$/);
    expect(new GatewayError(code)).toMatchObject({ code, status: entry.status, message: entry.message, retryable: entry.retryable, name: 'GatewayError' });
  });
});

describe('over the bus', () => {
  test.each(codes)('%s arrives as it left', (code) => {
    const error = new GatewayError(code);
    expect(error.toWire()).toEqual({ code, message: error.message, status: error.status });
    expect(cross(error)).toMatchObject({ code, message: error.message, status: error.status, retryable: error.retryable });
  });

  test('every field arrives, the cause never leaves', () => {
    const error = new GatewayError('upstream_rejected', {
      message: 'tools.0 é is wrong',
      status: 422,
      retryAfter: 0,
      headers: { 'x-a': '1' },
      param: 'tools.0',
      details: { error_code: 'ramp_limit_exceeded' },
      body: '{"error":{}}',
      cause: new Error('key sk-secret at 10.0.0.1'),
    });
    expect(JSON.stringify(error.toWire())).not.toContain('sk-secret');
    const back = cross(error);
    expect(back.toWire()).toEqual(error.toWire());
    expect(back).toMatchObject({ retryAfter: 0, headers: { 'x-a': '1' }, param: 'tools.0', body: '{"error":{}}', status: 422 });
    expect(back.cause).toBeUndefined();
    expect(isGatewayError(back)).toBe(true);
  });

  test('a code that this version does not know keeps its status and message, as internal', () => {
    for (const code of ['from_the_future', 'toString', '__proto__', 'constructor']) {
      const back = GatewayError.fromWire({ code, message: 'New.', status: 418 });
      expect(back).toMatchObject({ code: 'internal', message: 'New.', status: 418, retryable: false });
    }
  });
});

describe('the brand', () => {
  test('anything else becomes internal, without a word of it for the caller', () => {
    const defect = new TypeError('x is undefined in /srv/secret.ts');
    const error = toGatewayError(defect);
    expect(error).toMatchObject({ code: 'internal', status: 500, message: errorCodes.internal.message, cause: defect });
    const known = new GatewayError('draining');
    expect(toGatewayError(known)).toBe(known);
    for (const value of [undefined, null, 'text', 0, {}, defect]) expect(isGatewayError(value)).toBe(false);
  });
});
