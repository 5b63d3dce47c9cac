/** Two thousand tools of fifty MCP servers: every aggregator lists them as the same bytes, and finds the same ones. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ManyToolsServer } from '../fake-mcp/many-tools-server.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { openSessionOfEach, postMcp } from '../support/mcp-posts.ts';

const toolsOfEach = 40;

describe.each(arrangements('many MCP tools'))('many MCP tools, %s', (arrangement) => {
  const many = new ManyToolsServer(50, toolsOfEach);
  /** Each of another aggregator. */
  let sessions: string[] = [];
  let gateway: TestGateway;

  /** The reply's text, as each aggregator writes it. */
  const askEach = (method: string, params: object = {}): Promise<string[]> =>
    Promise.all(sessions.map(async (session) => (await postMcp(gateway, { method, params }, { session })).text));
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely.
  const namesOf = (text: string): string[] => (JSON.parse(text) as any).result.tools.map(({ name }: { name: string }) => name);

  beforeAll(async () => {
    await many.start();
    gateway = await startGateway({ arrangement, mcp: true, ...(arrangement === 'split' && { twice: ['mcp-aggregator' as const] }) });
    await gateway.configure({
      // The smaller priority is listed first: neither the order of names nor that of the configuration.
      mcp_servers: many.names.map((name, at) => ({ name, endpoint: many.urlOf(name), priority: (at * 7) % 5 })),
      key_groups: [{ name: 'everyone', models: ['*'], mcp_tool_acl: { allowed_tools: ['*'] } }],
    });
    sessions = await openSessionOfEach(gateway, arrangement === 'split' ? 2 : 1);
    await until(
      async () => (await askEach('tools/list')).every((text) => namesOf(text).length === 1 + many.names.length * toolsOfEach),
      'each aggregator to know all tools',
    );
  });
  afterAll(async () => {
    await gateway?.stop();
    many.stop();
  });

  test('lists are the same bytes from each aggregator, each time', async () => {
    const lists = [...(await askEach('tools/list')), ...(await askEach('tools/list'))];
    expect(lists).toHaveLength(sessions.length * 2);
    expect(new Set(lists).size).toBe(1);
  });

  test('tools stand by priority, server and name, whatever order servers list them in', async () => {
    const [list] = await askEach('tools/list');
    const priority = new Map(many.names.map((name, at) => [name, (at * 7) % 5]));
    const [search, ...names] = namesOf(list!);
    expect(search).toBe('search_tools');
    const placed = names.map((name) => ({ name, priority: priority.get(name.slice(0, name.indexOf('.')))! }));
    expect(names).toEqual(placed.toSorted((a, b) => a.priority - b.priority || (a.name < b.name ? -1 : 1)).map(({ name }) => name));
  });

  test('searches find the same tools in the same order', async () => {
    const found = await askEach('tools/search', { query: 'archive a shipping label of server-31', limit: 20 });
    expect(new Set(found).size).toBe(1);
    expect(namesOf(found[0]!)[0]).toBe('server-31.archive_shipping_labels');
  });

  test('a tool found is called', async () => {
    const params = { name: 'server-31.archive_shipping_labels', arguments: { id: '7', fields: { title: 'x', due: 'y' } } };
    for (const text of await askEach('tools/call', params)) expect(text).toContain('archive shipping labels 7 of server-31');
  });
});
