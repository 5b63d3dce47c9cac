/** What an upstream's status says, where no code of its protocol says more: the same for every protocol. */
import { describe, expect, test } from '@jest/globals';
import { protocols } from '../../src/index.ts';

const upstreams = protocols.flatMap(({ id, upstream }) => (upstream ? [{ id, upstream }] : []));
const bodies = ['', 'Method Not Allowed', '<html></html>', '{}', '{"error":{"message":"No.","type":"invalid_request_error"}}', '{"message":"No."}'];

describe.each(upstreams)('$id', ({ upstream }) => {
  const classes = (status: number): string[] => [...new Set(bodies.map((body) => upstream.readError(status, {}, body).class))];

  test('method and address are the choice of the gateway: a 405 is no fault of the caller', () => {
    expect(classes(405)).toEqual(['server']);
  });

  test.each([503, 529])('%i is an overloaded upstream', (status) => {
    expect(classes(status)).toEqual(['overloaded']);
  });
});
