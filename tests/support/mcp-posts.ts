/** Messages of MCP as the HTTP requests that they are, for suites about what no client library would send, or hides. */
import { type TestGateway, until } from './gateway.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely.
type Json = any;

export const sessionVersion = '2025-11-25';

export interface PostOptions {
  /** Instead of the gateway's own key. */
  key?: string;
  path?: string;
  session?: string | undefined;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface Posted {
  status: number;
  headers: Headers;
  /** As it came. */
  text: string;
  /** The message in it, also where it came as the last event of a stream; null: none. */
  body: Json;
}

type Place = Pick<TestGateway, 'url' | 'key'>;

/** Posts one message; the id is 1 unless it has one. */
export async function postMcp({ url, key: own }: Place, message: object, options: PostOptions = {}): Promise<Posted> {
  const { key = own, path = '/mcp', session, headers, signal } = options;
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session !== undefined && { 'mcp-session-id': session, 'mcp-protocol-version': sessionVersion }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    ...(signal && { signal }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: text === '' ? null : readMessage(text) };
}

function readMessage(text: string): Json {
  if (text.startsWith('{') || text.startsWith('[')) return JSON.parse(text);
  const at = text.lastIndexOf('data: {');
  return at < 0 ? null : JSON.parse(text.slice(at + 6));
}

/** `tools/call`: the message that answers it. */
export const callTool = async (gateway: Place, name: string, args: object = {}, options: PostOptions = {}): Promise<Json> =>
  (await postMcp(gateway, { method: 'tools/call', params: { name, arguments: args } }, options)).body;

/** `tools/list`: names, in their order. */
export const toolNames = async (gateway: Place, options: PostOptions = {}): Promise<string[]> =>
  (await postMcp(gateway, { method: 'tools/list' }, options)).body.result.tools.map(({ name }: Json) => name);

/** The id of a new session. */
export async function openSession(gateway: Place, { capabilities = {}, ...options }: PostOptions & { capabilities?: object } = {}): Promise<string> {
  const params = { protocolVersion: sessionVersion, capabilities, clientInfo: { name: 'suite', version: '1' } };
  return (await postMcp(gateway, { method: 'initialize', params }, options)).headers.get('mcp-session-id') ?? '';
}

/** Ids of sessions, each with another one of so many aggregators. */
export async function openSessionOfEach(gateway: Place, aggregators: number): Promise<string[]> {
  const found = new Map<string, string>();
  await until(async () => {
    const session = await openSession(gateway);
    if (session !== '') found.set(session.split('.')[0]!, session);
    return found.size === aggregators;
  }, 'a session with each aggregator');
  return [...found.values()];
}
