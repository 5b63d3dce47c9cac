import { describe, expect, test } from '@jest/globals';
import { GatewayError } from '@model-gateway/contracts/errors';
import { Cancellation } from '../src/request/cancellation.ts';

const thrownBy = (cancellation: Cancellation): unknown => {
  try {
    cancellation.throwIfOver();
    return null;
  } catch (error) {
    return error;
  }
};

describe('a request that has to stop says why', () => {
  test.each([
    ['client gone', 'client_gone'],
    ['drain', 'draining'],
    ['deadline', 'timeout'],
    ['the opener failed', 'service_lost'],
    ['the opener is gone', 'service_lost'],
  ])('cancelled with "%s": %s', (reason, code) => {
    const cancellation = new Cancellation();
    expect(thrownBy(cancellation)).toBeNull();
    cancellation.cancel(reason);
    expect(thrownBy(cancellation)).toMatchObject({ code });
  });

  test('interrupted: with that error', () => {
    const cancellation = new Cancellation();
    cancellation.interrupt(new GatewayError('draining'));
    expect(thrownBy(cancellation)).toMatchObject({ code: 'draining' });
  });
});
