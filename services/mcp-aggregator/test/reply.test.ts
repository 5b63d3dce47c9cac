/** An answer whose caller does not read, or has left, or was given up by the edge. */
import { afterEach, expect, test } from '@jest/globals';
import { createMemoryBus, type StreamCall, type StreamHandlers } from '@model-gateway/bus';
import type { McpExchange } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import { createLogger } from '@model-gateway/telemetry';
import { until } from '../../../tests/support/in-process.ts';
import { Reply } from '../src/endpoint/reply.ts';

const logger = createLogger({ level: 'silent', name: 'test' });
const exchange = { id: 'one', method: 'POST', path: '/mcp', query: '', headers: {}, caller: {} } as unknown as McpExchange;
const buses: ReturnType<typeof createMemoryBus>[] = [];
afterEach(async () => {
  for (const bus of buses.splice(0)) await bus.drain();
});

/** A reply, and the side of the edge, which reads nothing. */
async function open(): Promise<{ reply: Reply; call: StreamCall; broken: GatewayError[] }> {
  const bus = createMemoryBus({ logger, strict: false });
  buses.push(bus);
  let reply: Reply | undefined;
  bus.serve({
    open: {
      'mcp.exchange': (_exchange, _body, stream) => {
        reply = new Reply(stream);
      },
    },
  });
  const broken: GatewayError[] = [];
  const handlers: StreamHandlers<'mcp.exchange'> = { head: () => {}, data: () => {}, tail: () => {}, broken: (error) => void broken.push(error) };
  const call = bus.open('mcp.exchange', exchange, handlers);
  await until(() => reply !== undefined, 'the exchange to be opened');
  return { reply: reply!, call, broken };
}

test('a caller who does not read is cut off once too much waits, and does not wait for the rest', async () => {
  const { reply, broken } = await open();
  const text = JSON.stringify({ padding: 'x'.repeat(1024 * 1024) });
  for (let events = 0; events < 40 && !reply.ended; events++) reply.event(text);
  expect([reply.ended, reply.left.aborted]).toEqual([true, true]);
  await until(() => broken.length > 0, 'the edge to be told');
  expect(broken).toMatchObject([{ code: 'overloaded' }]);
});

test.each([
  ['client gone', 'client_gone'],
  ['drain', 'draining'],
  ['deadline', 'timeout'],
])('cancelled with "%s": %s', async (reason, code) => {
  const { reply, call } = await open();
  call.cancel(reason);
  await until(() => reply.left.aborted, 'the reply to be given up');
  expect(reply.left.reason).toMatchObject({ code });
});
