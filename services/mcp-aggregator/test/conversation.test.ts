/** A caller of the newer era and servers of older revisions that ask for something before they answer, through the aggregator itself. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createMemoryBus, type StreamCall } from '@model-gateway/bus';
import { buildSnapshot, type CatalogWatcher } from '@model-gateway/catalog';
import { type KeyGroup, type McpExchange, type McpServerRecord, mcpServerSchema } from '@model-gateway/contracts';
import { MemoryState } from '@model-gateway/distributed-state';
import { createLogger, createRedactor } from '@model-gateway/telemetry';
import { createOutbound, type Outbound } from '@model-gateway/upstream-client';
import { ToolServer } from '../../../tests/fake-mcp/tool-server.ts';
import { until } from '../../../tests/support/in-process.ts';
import { createMcpAggregator } from '../src/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies are read freely.
type Json = any;
const prefix = 'io.modelcontextprotocol/';
const names = ['stateful', 'events'] as const;
const servers = { stateful: new ToolServer('stateful'), events: new ToolServer('events') };
const able = { elicitation: { form: {} } };
const unknownState = { error: { code: -32602, message: 'Invalid params: no call waits under this requestState' } };

const logger = createLogger({ level: 'error', name: 'test', redactor: createRedactor(), destination: { write: () => {} } });
const bus = createMemoryBus({ logger, strict: false });
let outbound: Outbound;
let aggregator: ReturnType<typeof createMcpAggregator>;

beforeAll(async () => {
  for (const server of Object.values(servers)) {
    server.asks = true;
    await server.start();
  }
  const records: McpServerRecord[] = names.map((name) => ({
    ...mcpServerSchema.parse({ name, endpoint: servers[name].url, max_concurrency: 4, ...(name === 'events' && { transport: 'sse' }) }),
    ...{ id: name, withheld: name },
  }));
  const group: KeyGroup = {
    ...{ name: 'all', models: [], header_acl: [], strict_translation: false, enabled: true, description: '' },
    mcp_tool_acl: { allowed_tools: ['*'], denied_tools: [], allowed_tags: [] },
  };
  const snapshot = buildSnapshot({ revision: 1, upstreams: [], models: [], load_balancers: [], mcp_servers: records, key_groups: [group], access_keys: [] });
  const catalog = {
    ...{ start: async () => {}, stop: async () => {}, current: () => snapshot, at: () => snapshot, onChange: () => () => {}, ready: true },
  } as unknown as CatalogWatcher;
  const timeouts = { connect_ms: 20_000, first_byte_ms: 60_000, idle_ms: 60_000, total_ms: 120_000 };
  outbound = createOutbound({ allowPrivate: true, timeouts, userAgent: 'test', logger });
  bus.serve({
    ask: {
      'catalog.mcp-secrets': async () => ({
        keys: [{ id: 'k', key: Buffer.alloc(32, 1).toString('base64') }],
        servers: records.map(({ id, endpoint }) => ({ id, endpoint })),
      }),
      'catalog.mcp-tools': async () => ({ changed: [] }),
    },
  });
  aggregator = createMcpAggregator({
    ...{ bus, catalog, logger, redactor: createRedactor(), outbound, state: new MemoryState(), drainMs: 1000 },
    config: { maxToolTokens: 0 } as never,
  });
  await aggregator.start();
  for (const name of names) await until(async () => (await call(`${name}.increment`)).result !== undefined, 'the servers to be known');
});
afterAll(async () => {
  await aggregator?.stop();
  await bus.drain();
  for (const server of Object.values(servers)) server.stop();
  await outbound?.close();
});

/** One request as the revision writes it; `opened` is given the stream, for callers who leave. */
function call(
  name: string,
  more: Json = {},
  { owner = 'one', capabilities = able as Json, path = '/mcp', opened = (_call: StreamCall): void => {} } = {},
): Promise<Json> {
  const caller = { ...{ accessKey: 'k', owner, keyGroup: 'all', mask: 'gk-…', clientIp: null, userAgent: null, clientRequestId: null } };
  const headers = {
    ...{ accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
  };
  const exchange: McpExchange = { id: 'r', caller, method: 'POST', path, query: '', headers };
  const _meta = { [`${prefix}protocolVersion`]: '2026-07-28', [`${prefix}clientCapabilities`]: capabilities };
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {}, ...more, _meta } }));
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = [];
    const done = (): void => {
      const text = Buffer.concat(pieces).toString('utf8');
      resolve(JSON.parse(text.startsWith('{') ? text : text.slice(text.lastIndexOf('data: ') + 6)));
    };
    opened(bus.open('mcp.exchange', exchange, { head: () => {}, data: (bytes: Uint8Array) => void pieces.push(bytes), tail: done, broken: reject }, { body }));
  });
}
const answersTo = ({ inputRequests }: Json, content: Json): Json =>
  Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action: 'accept', content }]));
const goOn = (name: string, result: Json, content: Json, more = {}): Promise<Json> =>
  call(name, { requestState: result.requestState, inputResponses: answersTo(result, content) }, more);

describe.each(names)('a %s server', (name) => {
  test('asks twice, and answers', async () => {
    const { result: first } = await call(`${name}.ask`);
    expect(first).toMatchObject({ resultType: 'input_required', requestState: expect.stringMatching(/^mgw\./) });
    expect(Object.values(first.inputRequests)).toMatchObject([{ method: 'elicitation/create', params: { message: 'What is your name?' } }]);
    const { result: second } = await goOn(`${name}.ask`, first, { name: 'Ada' });
    expect(Object.values(second.inputRequests)).toMatchObject([{ params: { message: 'What is your color?' } }]);
    const { result } = await goOn(`${name}.ask`, second, { color: 'blue' });
    expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'Ada likes blue' }] });
  });

  test('asks beside its reply', async () => {
    const { result } = await call(`${name}.ask_aside`);
    expect((await goOn(`${name}.ask_aside`, result, { name: 'Ada' })).result).toMatchObject({ content: [{ text: 'Hello, Ada' }] });
  });

  test('is told that a caller who cannot be asked cannot', async () => {
    expect((await call(`${name}.ask`, {}, { capabilities: {} })).result).toMatchObject({ isError: true, resultType: 'complete' });
  });
});

test('only its own caller goes on with a call, with the same tool, once', async () => {
  const { result: first } = await call('stateful.ask');
  expect(await goOn('stateful.ask', first, { name: 'Eve' }, { owner: 'two' })).toMatchObject(unknownState);
  expect(await goOn('stateful.increment', first, { name: 'Eve' })).toMatchObject(unknownState);
  const { result: second } = await goOn('stateful.ask', first, { name: 'Ada' });
  expect(await goOn('stateful.ask', first, { name: 'Ada' })).toMatchObject(unknownState);
  // What is left out is asked again.
  const { result: again } = await call('stateful.ask', { requestState: second.requestState, inputResponses: {} });
  expect(again.inputRequests).toEqual(second.inputRequests);
  expect((await goOn('stateful.ask', again, { color: 'blue' })).result.content[0].text).toBe('Ada likes blue');
});

test('slashes at the end of a path mean nothing, and as many in its midst cost no more', async () => {
  const slashes = '/'.repeat(60_000);
  const began = process.cpuUsage();
  expect((await call('stateful.increment', {}, { path: `/mcp${slashes}` })).result).toBeDefined();
  expect((await call('stateful.increment', {}, { path: `/mcp${slashes}x` })).error).toBeDefined();
  expect(process.cpuUsage(began).user / 1_000_000).toBeLessThan(5);
});

test('calls at the same time do not mix', async () => {
  const people = ['Ada', 'Bob', 'Cy'];
  const firsts = await Promise.all(people.map(() => call('stateful.ask')));
  const seconds = await Promise.all(firsts.map(({ result }, at) => goOn('stateful.ask', result, { name: people[at] })));
  const last = await Promise.all(seconds.map(({ result }, at) => goOn('stateful.ask', result, { color: `${at}` })));
  expect(last.map(({ result }) => result.content[0].text)).toEqual(['Ada likes 0', 'Bob likes 1', 'Cy likes 2']);
});

test('a call that waits holds its place, and gives it back when it is over', async () => {
  const waiting = await Promise.all([1, 2, 3, 4].map(() => call('stateful.ask')));
  let done = false;
  const fifth = call('stateful.increment').finally(() => {
    done = true;
  });
  await call('events.increment');
  expect(done).toBe(false);
  const { result } = await goOn('stateful.ask', waiting[0].result, { name: 'Ada' });
  await goOn('stateful.ask', result, { color: 'red' });
  expect((await fifth).result).toBeDefined();
  for (const { result: one } of waiting.slice(1)) await goOn('stateful.ask', (await goOn('stateful.ask', one, { name: 'x' })).result, { color: 'x' });
});

test('a caller who leaves while the call goes on gives it up', async () => {
  const before = servers.stateful.received.filter(({ body }) => body.includes('notifications/cancelled')).length;
  let stream: StreamCall | undefined;
  const opened = (one: StreamCall): void => {
    stream = one;
  };
  void call('stateful.wait', {}, { opened }).catch(() => undefined);
  await until(async () => servers.stateful.waiting === 1, 'the call to be under way');
  stream?.cancel('the caller left');
  await until(async () => servers.stateful.received.filter(({ body }) => body.includes('notifications/cancelled')).length > before, 'the server to be told');
});
