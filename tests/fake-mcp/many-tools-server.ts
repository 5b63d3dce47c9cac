/** Many MCP servers with many tools each, on the official SDK, behind one port: `/server-07/mcp` is one of them. Each reply lists the tools in another order. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const subjects = ['invoices', 'calendar events', 'pull requests', 'support tickets', 'shipping labels', 'holiday requests', 'audit records', 'meeting rooms'];
const verbs = ['create', 'list', 'update', 'delete', 'archive'];
const inputSchema = z.object({
  id: z.string().describe('Which one'),
  fields: z.object({ title: z.string(), due: z.string().describe('A date') }),
  notify: z.boolean().optional(),
});

const padded = (number: number): string => String(number).padStart(2, '0');

export class ManyToolsServer {
  readonly names: readonly string[];
  readonly #toolsOfEach: number;
  readonly #server: Server;
  #turn = 0;

  /** `servers` × `toolsOfEach` tools: forty of one server have names of their own. */
  constructor(servers: number, toolsOfEach: number) {
    this.names = Array.from({ length: servers }, (_, at) => `server-${padded(at)}`);
    this.#toolsOfEach = toolsOfEach;
    const handlers = new Map(this.names.map((name) => [`/${name}/mcp`, createMcpHandler(() => this.#describe(name), { legacy: 'reject' })]));
    this.#server = createServer(async (request, response) => {
      const handler = handlers.get(request.url ?? '');
      if (!handler) return void response.writeHead(404).end();
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const headers = new Headers(
        Object.entries(request.headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as [string, string]] : [])),
      );
      const method = request.method ?? 'POST';
      const body = method === 'POST' ? { body: Buffer.concat(pieces).toString('utf8') } : {};
      const answer = await handler.fetch(new Request(`http://127.0.0.1${request.url}`, { method, headers, ...body }));
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.flushHeaders();
      if (answer.body) for await (const piece of answer.body) response.write(piece);
      response.end();
    });
  }

  urlOf(name: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}/mcp`;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #describe(name: string): McpServer {
    const server = new McpServer({ name, version: '1.0.0' });
    const first = this.#turn++;
    for (let step = 0; step < this.#toolsOfEach; step++) {
      const at = (first + step) % this.#toolsOfEach;
      const subject = subjects[at % subjects.length]!;
      const verb = verbs[Math.floor(at / subjects.length) % verbs.length]!;
      server.registerTool(
        `${verb}_${subject.replaceAll(' ', '_')}`,
        { description: `Use this to ${verb} ${subject} of department ${name}. It answers with what was done.`, inputSchema },
        async ({ id }: { id: string }) => ({ content: [{ type: 'text', text: `${verb} ${subject} ${id} of ${name}` }] }),
      );
    }
    return server;
  }
}
