/** An upstream that keeps what it was asked, and answers as it is told. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export type Answer = (response: ServerResponse, asked: Received) => void;

export class AnsweringServer {
  readonly received: Received[] = [];
  answer: Answer = (response) => void response.writeHead(500).end();
  readonly #server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const asked = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) };
      this.received.push(asked);
      this.answer(response, asked);
    });
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** The last request's body as JSON. */
  json(): Record<string, unknown> {
    return JSON.parse(this.received.at(-1)?.body.toString() ?? '') as Record<string, unknown>;
  }

  /** The last request's body as a form. */
  form(): Promise<FormData> {
    const { body, headers } = this.received.at(-1)!;
    return new Response(new Uint8Array(body), { headers: { 'content-type': String(headers['content-type']) } }).formData();
  }
}

export const answerJson =
  (body: unknown, status = 200): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
  };
