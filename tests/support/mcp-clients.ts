/** Callers of tools, in each revision of the protocol: official SDKs where there is one that speaks it, else requests as its text says. */
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export const clientEras = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const;
export type ClientEra = (typeof clientEras)[number];

// biome-ignore lint/suspicious/noExplicitAny: tests look into results freely.
type Json = any;

export interface CallOptions {
  onProgress?: (progress: Json) => void;
  signal?: AbortSignal;
}

export interface ToolCaller {
  list(): Promise<Json[]>;
  call(name: string, args: Json, options?: CallOptions): Promise<Json>;
  close(): Promise<void>;
}

/** `url`: of `/mcp`, or of one server below it. */
export async function openToolCaller(era: ClientEra, url: string, key: string): Promise<ToolCaller> {
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  const info = { name: 'suite', version: '1.0.0' };
  if (era === '2026-07-28') {
    const client = new ModernClient(info, { versionNegotiation: { mode: { pin: era } } });
    await client.connect(new ModernTransport(new URL(url), { requestInit }));
    return ofClient(client);
  }
  if (era === '2025-11-25' || era === '2024-11-05') {
    const client = new Client(info);
    await client.connect(
      (era === '2024-11-05'
        ? new SSEClientTransport(new URL(`${url}/sse`), { requestInit })
        : new StreamableHTTPClientTransport(new URL(url), { requestInit })) as never,
    );
    return ofClient(client);
  }
  return openPlain(era, url, key);
}

function ofClient(client: Json): ToolCaller {
  return {
    list: async () => (await client.listTools()).tools,
    call: (name, args, { onProgress, signal } = {}) =>
      client instanceof ModernClient
        ? client.callTool({ name, arguments: args }, { ...(onProgress && { onprogress: onProgress }), ...(signal && { signal }) })
        : client.callTool({ name, arguments: args }, undefined, { ...(onProgress && { onprogress: onProgress }), ...(signal && { signal }) }),
    close: () => client.close(),
  };
}

/** A client of a revision that no present SDK opens with. */
async function openPlain(version: string, url: string, key: string): Promise<ToolCaller> {
  let session: string | undefined;
  let nextId = 1;
  const post = (body: Json, signal?: AbortSignal) =>
    fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session !== undefined && { 'mcp-session-id': session }),
        ...(session !== undefined && version !== '2025-03-26' && { 'mcp-protocol-version': version }),
      },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  const ask = async (method: string, params: Json, { onProgress, signal }: CallOptions = {}): Promise<Json> => {
    const id = nextId++;
    const answer = await post({ jsonrpc: '2.0', id, method, params }, signal);
    session ??= answer.headers.get('mcp-session-id') ?? undefined;
    const text = await answer.text();
    const messages: Json[] = answer.headers.get('content-type')?.includes('event-stream')
      ? text.split('\n').flatMap((line) => (line.startsWith('data: ') && line.length > 6 ? [JSON.parse(line.slice(6))] : []))
      : [JSON.parse(text)];
    for (const message of messages) if (message.method === 'notifications/progress') onProgress?.(message.params);
    const found = messages.find((message) => message.id === id);
    if (found?.error) throw Object.assign(new Error(found.error.message), { code: found.error.code });
    return found?.result;
  };
  const begun = await ask('initialize', { protocolVersion: version, capabilities: {}, clientInfo: { name: 'plain', version: '1' } });
  if (begun.protocolVersion !== version) throw new Error(`the gateway chose ${begun.protocolVersion}`);
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return {
    list: async () => (await ask('tools/list', {})).tools,
    call: (name, args, options = {}) => ask('tools/call', { name, arguments: args, ...(options.onProgress && { _meta: { progressToken: 'own' } }) }, options),
    close: async () => void (await fetch(url, { method: 'DELETE', headers: { authorization: `Bearer ${key}`, 'mcp-session-id': session ?? '' } })),
  };
}
