import { expect, test } from '@jest/globals';
import { DialError, faultOf } from './fault.ts';

test.each(['EMFILE', 'ENFILE'])('%s is a shortage of our own, whoever met it', (code) => {
  const error = Object.assign(new Error(`connect ${code} 192.0.2.1:443`), { code });
  for (const one of [error, new DialError('connect', 'connect', 'connection failed', error)])
    expect(faultOf(one, 'connect')).toEqual({
      ...{ class: 'busy', phase: 'connect', message: 'The gateway can open no more connections.', cause: one },
      detail: expect.stringContaining(code),
    });
});

test('a refused connection is a fault of the upstream', () => {
  const error = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  expect(faultOf(new DialError('connect', 'connect', 'connection failed', error), 'connect')).toMatchObject({ class: 'connect' });
});
