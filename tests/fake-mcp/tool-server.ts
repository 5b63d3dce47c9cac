/** MCP servers for suites, on the official SDKs: each in one of the ways that servers are met in, all with the same tools. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, McpServer as ModernServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** How a server is spoken to. */
export const serverEras = ['modern', 'stateful', 'stateless', 'events'] as const;
export type ServerEra = (typeof serverEras)[number];

/** What a server was asked, for assertions. */
export interface ReceivedCall {
  method: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

// biome-ignore lint/suspicious/noExplicitAny: two SDKs with types of their own describe tools alike.
type AnyServer = any;

const noted = (text: string) => ({ content: [{ type: 'text' as const, text }] });

export class ToolServer {
  readonly era: ServerEra;
  readonly received: ReceivedCall[] = [];
  /** Calls of `wait` that were cancelled. */
  cancelled = 0;
  /** When the last one was, by `performance.now()`. */
  cancelledAt = 0;
  /** Calls of `wait` under way. */
  waiting = 0;
  /** Calls of `slow` under way, and the most that there were at a time. */
  running = 0;
  most = 0;
  opened = 0;
  /** Refuses everything with this status. */
  failing: number | null = null;
  /** Answers nothing. */
  frozen = false;
  /** Answers no request of this method. */
  hangsAt: string | null = null;
  /** How its first tool describes itself. */
  weather = 'Weather of a city';
  /** Offers one tool more. */
  hasLate = false;
  /** Offers a tool that asks its caller for two things, one after the other: revisions with sessions alone. */
  asks = false;
  readonly #server: Server;
  readonly #sessions = new Map<string, StreamableHTTPServerTransport>();
  readonly #streams = new Map<string, SSEServerTransport>();
  readonly #live = new Set<AnyServer>();
  readonly #handler = createMcpHandler(
    () => this.#describe(new ModernServer({ name: 'tools', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } }), { count: 0 }),
    {
      legacy: 'reject',
    },
  );

  constructor(era: ServerEra) {
    this.era = era;
    this.#server = createServer((request, response) => void this.#handle(request, response).catch(() => response.destroy()));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${this.era === 'events' ? '/sse' : '/mcp'}`;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Forgets every session, as a server does that was restarted. */
  forget(): void {
    this.#sessions.clear();
  }

  /** How often it was called with this tool. */
  calls(tool: string): number {
    return this.received.filter(({ body }) => body.includes('"tools/call"') && body.includes(`"name":"${tool}"`)).length;
  }

  get sessions(): number {
    return this.#sessions.size + this.#streams.size;
  }

  /** A tool appears, and who listens is told. */
  revealLate(): void {
    this.hasLate = true;
    for (const server of this.#live) this.#addLate(server);
    this.#handler.notify.toolsChanged?.();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString('utf8');
    this.received.push({ method: request.method, headers: request.headers, body });
    if (this.frozen || (this.hangsAt !== null && body.includes(`"method":"${this.hangsAt}"`))) return;
    if (this.failing !== null) return void response.writeHead(this.failing).end();
    if (this.era === 'modern') return this.#modern(request, response, body);
    const parsed = body === '' ? undefined : JSON.parse(body);
    if (this.era === 'events') return this.#sse(request, response, parsed);
    return this.era === 'stateful' ? this.#stateful(request, response, parsed) : this.#stateless(request, response, parsed);
  }

  async #modern(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const left = new AbortController();
    response.on('close', () => left.abort());
    const headers = new Headers(
      Object.entries(request.headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as [string, string]] : [])),
    );
    const asked = new Request(`http://127.0.0.1${request.url}`, {
      method: request.method ?? 'POST',
      headers,
      signal: left.signal,
      ...(request.method === 'POST' && { body }),
    });
    const answer = await this.#handler.fetch(asked);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    if (answer.body) for await (const piece of answer.body) response.write(piece);
    response.end();
  }

  async #stateful(request: IncomingMessage, response: ServerResponse, parsed: unknown): Promise<void> {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? this.#sessions.get(id) : undefined;
    if (known) return known.handleRequest(request, response, parsed);
    if (typeof id === 'string')
      return void response
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => `session-${++this.opened}`,
      onsessioninitialized: (session) => void this.#sessions.set(session, transport),
      onsessionclosed: (session) => void this.#sessions.delete(session),
    });
    const server = this.#describe(new McpServer({ name: 'tools', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } }), { count: 0 });
    this.#live.add(server);
    await server.connect(transport);
    await transport.handleRequest(request, response, parsed);
  }

  async #stateless(request: IncomingMessage, response: ServerResponse, parsed: unknown): Promise<void> {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const transport = new StreamableHTTPServerTransport({} as never);
    const server = this.#describe(new McpServer({ name: 'tools', version: '1.0.0' }), { count: 0 });
    response.on('close', () => void server.close());
    await server.connect(transport);
    await transport.handleRequest(request, response, parsed);
  }

  async #sse(request: IncomingMessage, response: ServerResponse, parsed: unknown): Promise<void> {
    if (request.method === 'GET') {
      const transport = new SSEServerTransport('/messages', response);
      this.opened++;
      this.#streams.set(transport.sessionId, transport);
      const server = this.#describe(new McpServer({ name: 'tools', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } }), { count: 0 });
      this.#live.add(server);
      response.on('close', () => this.#streams.delete(transport.sessionId));
      return server.connect(transport);
    }
    const id = new URL(request.url ?? '/', 'http://x').searchParams.get('sessionId') ?? '';
    const transport = this.#streams.get(id);
    if (!transport) return void response.writeHead(404).end();
    await transport.handlePostMessage(request, response, parsed);
  }

  #describe(server: AnyServer, state: { count: number }): AnyServer {
    server.registerTool(
      'get_weather',
      { description: this.weather, inputSchema: z.object({ city: z.string() }), outputSchema: z.object({ celsius: z.number() }) },
      async ({ city }: { city: string }) => ({ content: [{ type: 'text', text: `It is mild in ${city}.` }], structuredContent: { celsius: 21 } }),
    );
    server.registerTool('fail', { description: 'Always fails', inputSchema: z.object({}) }, async () => ({ ...noted('no luck'), isError: true }));
    server.registerTool('increment', { description: 'Counts within the session', inputSchema: z.object({}) }, async () => noted(String(++state.count)));
    server.registerTool(
      'slow',
      { description: 'Reports progress', inputSchema: z.object({ steps: z.number() }) },
      async ({ steps }: { steps: number }, context: AnyServer) => {
        const meta = context._meta ?? context.mcpReq?._meta;
        const notify = context.sendNotification ?? context.mcpReq?.notify;
        for (let progress = 1; progress <= steps; progress++)
          if (meta?.progressToken !== undefined)
            await notify({ method: 'notifications/progress', params: { progressToken: meta.progressToken, progress, total: steps } });
        this.most = Math.max(this.most, ++this.running);
        // A client of the session revisions forgets who listens for progress when both come at once.
        await new Promise((resolve) => setTimeout(resolve, 50));
        this.running--;
        return noted('done');
      },
    );
    server.registerTool('wait', { description: 'Waits to be cancelled', inputSchema: z.object({}) }, async (_args: unknown, context: AnyServer) => {
      const signal: AbortSignal = context.signal ?? context.mcpReq?.signal;
      this.waiting++;
      await new Promise<void>((resolve) => {
        const stop = (): void => {
          this.cancelled++;
          this.cancelledAt = performance.now();
          resolve();
        };
        if (signal.aborted) return stop();
        signal.addEventListener('abort', stop, { once: true });
      });
      this.waiting--;
      return noted('cancelled');
    });
    if (this.asks)
      server.registerTool('ask', { description: 'Asks who calls', inputSchema: z.object({}) }, async (_args: unknown, { sendRequest }: AnyServer) => {
        const ask = async (name: string): Promise<string> => {
          const requestedSchema = { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] };
          const params = { message: `What is your ${name}?`, requestedSchema };
          const { action, content } = await sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema);
          return action === 'accept' ? content[name] : action;
        };
        return noted(`${await ask('name')} likes ${await ask('color')}`);
      });
    if (this.asks)
      server.registerTool('ask_aside', { description: 'Asks beside its reply', inputSchema: z.object({}) }, async () => {
        const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
        const { content } = await server.server.elicitInput({ message: 'What is your name?', requestedSchema });
        return noted(`Hello, ${content?.name}`);
      });
    if (this.hasLate) this.#addLate(server);
    return server;
  }

  #addLate(server: AnyServer): void {
    server.registerTool('late', { description: 'Appears later', inputSchema: z.object({}) }, async () => noted('late'));
  }
}
