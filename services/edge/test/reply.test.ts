/** The end of a reply: a caller who takes nothing of it any more is cut off, so that its slot comes back. */
import { expect, jest, test } from '@jest/globals';
import type { StreamCall } from '@model-gateway/bus';
import { DenseSet } from '@model-gateway/collections';
import type { ReplyTail } from '@model-gateway/contracts';
import { clientProtocols } from '@model-gateway/protocols';
import { nothingKnown } from '../src/admission/request-facts.ts';
import { Reply } from '../src/reply/reply.ts';

function createReply(written: boolean) {
  const response = {
    headersSent: false,
    statusCode: 200,
    /** Bytes that the socket has not taken. */
    writableLength: 0,
    destroy: jest.fn(),
    on: jest.fn(),
    end() {
      response.writableLength = written ? 0 : 1;
    },
    setTimeout: jest.fn<(ms: number, stalled: () => void) => void>(),
  };
  const exchange = { protocol: clientProtocols[0], request: { headers: {} }, response, elapsedMs: () => 1, watch: () => undefined };
  const entry = { handOver: () => undefined, publish: jest.fn() };
  const subject = { exchange, entry, facts: nothingKnown, form: 'whole' };
  const reply = new Reply(...([subject, { connections: { replies: new DenseSet() }, config: {} }] as unknown as ConstructorParameters<typeof Reply>));
  reply.start({ acknowledge: () => {} } as unknown as StreamCall);
  reply.tail({ row: { status: 200 } } as unknown as ReplyTail);
  return response;
}

test('a reply that is out at once needs no watch', () => {
  expect(createReply(true).setTimeout).not.toHaveBeenCalled();
});

test('one that is not is abandoned when its socket makes no progress', () => {
  const response = createReply(false);
  const [ms, stalled] = response.setTimeout.mock.calls[0]!;
  expect(ms).toBe(60_000);
  expect(response.destroy).not.toHaveBeenCalled();
  stalled();
  expect(response.destroy).toHaveBeenCalledTimes(1);
});
