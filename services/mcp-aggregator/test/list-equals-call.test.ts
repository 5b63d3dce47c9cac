/** Ten thousand random access lists, through the aggregator itself: what is listed can be called, and what is not is answered like a name that never was. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createMemoryBus } from '@model-gateway/bus';
import { buildSnapshot, type CatalogWatcher } from '@model-gateway/catalog';
import { type KeyGroup, type McpExchange, type McpServerRecord, type McpToolAcl, mcpServerSchema } from '@model-gateway/contracts';
import { MemoryState } from '@model-gateway/distributed-state';
import { createLogger, createRedactor } from '@model-gateway/telemetry';
import type { Outbound, OutboundHandlers } from '@model-gateway/upstream-client';
import { until } from '../../../tests/support/in-process.ts';
import { createMcpAggregator } from '../src/index.ts';

const count = Number(process.env['ACCESS_LISTS'] ?? 10_000);
const tags = ['t', 'u', 'v'];
const toolNames = ['x', 'y', 'find_all', 'get_order'];
const servers: McpServerRecord[] = ['a', 'b', 'a-b', 'c_d'].map((name, at) => ({
  ...mcpServerSchema.parse({
    ...{ name, endpoint: `https://${at}.test/`, connection_type: 'rest_bridge', tags: tags.slice(0, at), priority: at },
    extra_config: { operations: toolNames.map((operation_id) => ({ operation_id, description: operation_id, method: 'GET', path: `/${operation_id}` })) },
  }),
  id: name,
  withheld: name,
}));
const names = servers.flatMap(({ name }) => toolNames.map((tool) => `${name}.${tool}`));

let seed = 11;
const random = (below: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((seed / 2_147_483_648) * below);
};
const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
const pattern = (): string => (random(12) === 0 ? '*' : `${pick([...servers.map(({ name }) => name), '*'])}.${pick([...toolNames, '*'])}`);
const some = <T>(make: () => T): T[] => Array.from({ length: random(4) }, make);
const acl = (): McpToolAcl => ({ allowed_tools: some(pattern), denied_tools: some(pattern), allowed_tags: some(() => pick(tags)) });
const groups: KeyGroup[] = Array.from({ length: count }, (_, at) => ({
  ...{ name: `g${at}`, models: [], header_acl: [], strict_translation: false, enabled: true, description: '', mcp_tool_acl: acl() },
}));

const logger = createLogger({ level: 'error', name: 'test', redactor: createRedactor(), destination: { write: () => {} } });
const bus = createMemoryBus({ logger, strict: false });
const snapshot = buildSnapshot({ revision: 1, upstreams: [], models: [], load_balancers: [], mcp_servers: servers, key_groups: groups, access_keys: [] });
const catalog = {
  ...{ start: async () => {}, stop: async () => {}, current: () => snapshot, at: () => snapshot, onChange: () => () => {}, ready: true },
} as unknown as CatalogWatcher;
/** Every REST service answers. */
const outbound = {
  send(_request: unknown, handlers: OutboundHandlers) {
    queueMicrotask(() => {
      handlers.head(200, { 'content-type': 'application/json' });
      handlers.data(Buffer.from('{"ok":true}'));
      handlers.end();
    });
    return { pause: () => {}, resume: () => {}, abort: () => {} };
  },
  close: async () => {},
} as unknown as Outbound;
const aggregator = createMcpAggregator({
  ...{ bus, catalog, logger, redactor: createRedactor(), outbound, state: new MemoryState(), drainMs: 1000 },
  config: { maxToolTokens: 0 } as never,
});
const violations: string[] = [];

beforeAll(async () => {
  bus.serve({
    ask: {
      'catalog.mcp-secrets': async () => ({
        keys: [{ id: 'k', key: Buffer.alloc(32, 1).toString('base64') }],
        servers: servers.map(({ id, endpoint }) => ({ id, endpoint })),
      }),
      'catalog.mcp-tools': async () => ({ changed: [] }),
    },
  });
  bus.listenDurably('audit.tool', async (batch) => void violations.push(...batch.map(({ event }) => JSON.stringify(event))), { maxWaitMs: 5 });
  await aggregator.start();
});
afterAll(async () => {
  await aggregator.stop();
  await bus.drain();
});

// biome-ignore lint/suspicious/noExplicitAny: replies are read freely.
type Json = any;

function ask(keyGroup: string, method: string, params: object, path = '/mcp'): Promise<Json> {
  const caller = { ...{ accessKey: 'k', owner: `owner-${keyGroup}`, keyGroup, mask: 'gk-…', clientIp: null, userAgent: null, clientRequestId: null } };
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const exchange: McpExchange = { id: 'r', caller, method: 'POST', path, query: '', headers };
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = [];
    const done = (): void => resolve(JSON.parse(Buffer.concat(pieces).toString('utf8')));
    const handlers = { head: () => {}, data: (bytes: Uint8Array) => void pieces.push(bytes), tail: done, broken: reject };
    bus.open('mcp.exchange', exchange, handlers, { body });
  });
}
const call = (group: string, name: string, path?: string): Promise<Json> => ask(group, 'tools/call', { name, arguments: {} }, path);
/** An error without the name that it is about. */
const wordsOf = ({ error }: Json, name: string): Json => ({ ...error, message: error?.message.replaceAll(name, 'NAME') });

test('what is listed can be called, and what is not listed never was', async () => {
  const neverWas = wordsOf(await call('g0', 'nowhere.nothing'), 'nowhere.nothing');
  expect(neverWas).toMatchObject({ code: -32602, message: 'Unknown tool: NAME' });
  const wrong: string[] = [];
  let [callable, refused] = [0, 0];
  for (const { name: group } of groups) {
    const { result } = await ask(group, 'tools/list', {});
    const listed: string[] = result.tools.map(({ name }: Json) => name).filter((name: string) => name !== 'search_tools');
    const hidden = names.filter((name) => !listed.includes(name));
    for (const name of listed.length > 0 ? [pick(listed)] : []) {
      callable++;
      const answer = await call(group, name);
      if (answer.result?.structuredContent?.ok !== true) wrong.push(`${group}: ${name} is listed, and answered ${JSON.stringify(answer)}`);
    }
    for (const name of hidden.length > 0 ? [pick(hidden)] : []) {
      refused++;
      const words = wordsOf(await call(group, name), name);
      if (JSON.stringify(words) !== JSON.stringify(neverWas)) wrong.push(`${group}: ${name} is not listed, and answered ${JSON.stringify(words)}`);
    }
    if (wrong.length > 20) break;
  }
  expect(wrong).toEqual([]);
  expect([callable > count / 4, refused > count / 4]).toEqual([true, true]);
  await until(() => violations.filter((text) => text.includes('acl.violation')).length >= Math.min(refused, 100), 'the violations to be recorded');
}, 600_000);
