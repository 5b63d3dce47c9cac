/** What admins are shown of a server. */
import { afterEach, expect, test } from '@jest/globals';
import { type McpServerRecord, mcpServerSchema } from '@model-gateway/contracts';
import { MemoryState } from '@model-gateway/distributed-state';
import { createLogger, createRedactor } from '@model-gateway/telemetry';
import type { Outbound } from '@model-gateway/upstream-client';
import { McpServer } from '../src/servers/server.ts';

/** A message of the bus server. */
const mebibyte = 1024 * 1024;
const opened: McpServer[] = [];
afterEach(() => Promise.all(opened.splice(0).map((server) => server.close())));

async function serverOf(tools: number): Promise<McpServer> {
  const operations = Array.from({ length: tools }, (_, at) => ({
    operation_id: `operation_${at}`,
    description: '说'.repeat(600),
    method: 'GET',
    path: `/${at}`,
  }));
  const parsed = mcpServerSchema.parse({
    ...{ name: 'shop', connection_type: 'rest_bridge', endpoint: 'https://shop.example.com', defer_loading: true },
    extra_config: { title: 'Shop', operations },
  });
  const server = new McpServer(
    { ...parsed, id: 'shop', withheld: 'shop' } as McpServerRecord,
    { url: parsed.endpoint, headers: {} },
    {
      ...{ outbound: {} as Outbound, redactor: createRedactor(), state: new MemoryState(), version: '1' },
      logger: createLogger({ level: 'silent', name: 'test' }),
    },
  );
  opened.push(server);
  await server.load();
  return server;
}

test('of a few tools the beginning of each description', async () => {
  const { tools } = (await serverOf(20)).status(true);
  expect(tools?.map(({ description }) => description.length)).toEqual(Array(20).fill(500));
});

test('of two thousand as much as one message takes', async () => {
  const status = (await serverOf(2000)).status(true);
  expect(status.tools).toHaveLength(2000);
  expect(status.tools?.[0]?.description).toMatch(/^说{50,}$/);
  expect(Buffer.byteLength(JSON.stringify({ servers: [status] }))).toBeLessThan(mebibyte - 16_384);
});
