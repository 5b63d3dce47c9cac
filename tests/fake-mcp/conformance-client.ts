/**
 * The program that the protocol's conformance suite starts as its client: it makes the suite's server a server of a running gateway, and does through the gateway
 * what the scenario wants done. So the suite judges the gateway as a client. `GATEWAY_URL`, `GATEWAY_KEY`, `CONSOLE_KEY`; the last argument is the server's address.
 */
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

// biome-ignore lint/suspicious/noExplicitAny: what scenarios give is read freely.
type Json = any;

const { GATEWAY_URL: gateway, GATEWAY_KEY: key, CONSOLE_KEY: consoleKey, CALLER_ERA: era } = process.env;
const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const endpoint = process.argv.at(-1) ?? '';
const name = `suite-${process.pid}`;
const info = { name: 'conformance', version: '1' };
const transport = { requestInit: { headers: { authorization: `Bearer ${key}` } } };
const address = new URL(`${gateway}/mcp/${name}`);
const waitMs = 20_000;

async function console_(method: string, path: string, body?: object): Promise<Json> {
  const headers = { authorization: `Bearer ${consoleKey}`, 'content-type': 'application/json' };
  const answer = await fetch(`${gateway}/console/api${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(`the console answered ${answer.status}: ${await answer.text()}`);
  return answer.status === 204 ? null : answer.json();
}

async function until<T>(what: string, look: () => Promise<T | false>): Promise<T> {
  for (const end = Date.now() + waitMs; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const found = await look();
    if (found !== false) return found;
    if (Date.now() > end) throw new Error(`waited for ${what}`);
  }
}

/** A caller of the gateway; what it is asked it accepts, with `content`. */
async function open(content: Json = {}): Promise<Json> {
  const accept = (): Json => ({ action: 'accept', content });
  if (era === 'modern') {
    const client = new ModernClient(info, {
      versionNegotiation: { mode: { pin: '2026-07-28' } },
      capabilities: { elicitation: { form: { applyDefaults: true } } },
    } as Json);
    client.setRequestHandler('elicitation/create', accept as Json);
    await client.connect(new ModernTransport(address, transport));
    return client;
  }
  const client = new Client(info, { capabilities: { elicitation: { form: { applyDefaults: true } } } } as Json);
  client.setRequestHandler(ElicitRequestSchema, accept as Json);
  await client.connect(new StreamableHTTPClientTransport(address, transport) as never);
  return client;
}

const call = (client: Json, tool: string, args: object = {}): Promise<Json> => client.callTool({ name: tool, arguments: args });
const toolsOf = (client: Json): Promise<Json[]> =>
  until('the tools', async () => {
    const { tools } = await client.listTools();
    return tools.length > 0 && tools;
  });

const run: Record<string, (client: Json) => Promise<unknown>> = {
  initialize: async () => undefined,
  'request-metadata': async () => undefined,
  tools_call: async (client) => call(client, (await toolsOf(client))[0].name, { a: 5, b: 3 }),
  'elicitation-sep1034-client-defaults': async (client) => call(client, (await toolsOf(client))[0].name),
  'sse-retry': async (client) => call(client, (await toolsOf(client))[0].name),
  async 'sep-2322-client-request-state'(client) {
    await toolsOf(client);
    // At once: what one call is asked for must not reach another.
    await Promise.all(['test_mrtr_echo_state', 'test_mrtr_unrelated'].map((tool) => call(client, tool)));
    await call(client, 'test_mrtr_no_state');
    // The library of the newer era refuses a result without a type, which the gateway hands on as it came.
    await call(client, 'test_mrtr_no_result_type').catch((error: Json) => {
      if (error.data?.violation !== 'missing-resultType') throw error;
    });
  },
  async 'http-standard-headers'(client) {
    for (const { name } of await toolsOf(client)) await call(client, name);
    for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
    for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
  },
  async 'http-custom-headers'(client) {
    await toolsOf(client);
    for (const { name: tool, arguments: args } of (JSON.parse(context) as Json).toolCalls) await call(client, tool, args);
  },
  async 'http-invalid-tool-headers'(client) {
    await toolsOf(client);
    const names = (await client.listTools()).tools.map((tool: Json) => tool.name);
    // Also those that are not listed: the gateway must not pass them on.
    const invalid = ['invalid_empty_header', 'invalid_object_header', 'invalid_duplicate_diff_case', 'invalid_space_in_name', 'invalid_number_header'];
    for (const tool of new Set([...names, ...invalid])) await call(client, tool, { region: 'x', value: 'x' }).catch(() => undefined);
  },
  'json-schema-ref-no-deref': toolsOf,
  async 'json-schema-2020-12-preservation'(client) {
    const schema = (await toolsOf(client)).find((tool) => tool.name !== 'json_schema_echo').inputSchema;
    await call(client, 'json_schema_echo', { schema });
  },
};

const work = run[scenario];
if (!work) throw new Error(`there is nothing for the scenario ${scenario}`);
await console_('POST', '/mcp-servers', { name, endpoint, health_check: { interval_secs: 600, timeout_secs: 20 } });
await until('the server to be known', async () =>
  (await console_('GET', '/mcp-status')).items.some((one: Json) => one.name === name && one.state === 'healthy'),
);
const client = await open();
await work(client);
await client.close();
await console_('DELETE', `/mcp-servers/${name}`);
process.exit(0);
