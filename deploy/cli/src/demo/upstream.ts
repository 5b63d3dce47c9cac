/** The demo's built-in upstream: a small server in this process that answers chat completions with a scripted reply, so that the gateway can be tried without any provider. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type ChatEvent, type ClientAdapter, type Conversation, clientProtocols, foldEvents, type ReplyContext } from '@model-gateway/protocols';
import { createMinter } from '@model-gateway/service-runtime';
import { ownAddress } from '../own-address.ts';
import { demoModel, failingPath } from './configuration.ts';

const wordMs = 25;
/** The demo's agents read and write a little; what providers would count for real ones is more by this. */
const agentFactor = 12;
const maxBodyBytes = 64 * 1024 * 1024;

/** The protocol this upstream speaks: the first of the registry. The gateway translates for callers of every other. */
export const demoProtocol = clientProtocols[0]!;

/** A local upstream with canned replies, for `up --demo`. */
export interface DemoUpstream {
  url: string;
  close(): Promise<void>;
}

/** `host`: the loopback address that this machine has. */
export async function startDemoUpstream(host: '127.0.0.1' | '::1'): Promise<DemoUpstream> {
  const mintId = createMinter();
  const server: Server = createServer((request, response) => {
    answer(request, response, demoProtocol.client, mintId).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { message: error instanceof Error ? error.message : 'failed', type: 'invalid_request_error', param: null, code: null } }),
      );
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: ownAddress({ host, port }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, adapter: ClientAdapter, mintId: (prefix: string) => string): Promise<void> {
  if (request.url?.startsWith(failingPath)) {
    request.resume();
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ error: { message: 'The server had an error while processing your request.', type: 'server_error', param: null, code: null } }),
    );
    return;
  }
  if (request.method === 'GET') {
    // The list of models, for the console's "test upstream" request.
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(
        adapter.writeModels([{ name: demoModel, createdAt: 0, ownedBy: 'model-gateway' }], { path: request.url ?? '', query: new URLSearchParams() }),
      ),
    );
    return;
  }
  // As a provider would, so that embeddings or speech asked of the demo's model are not answered with a chat.
  if (!new URL(request.url ?? '/', 'http://demo').pathname.endsWith('/chat/completions')) {
    request.resume();
    response.writeHead(404, { 'content-type': 'application/json' });
    const message = 'The upstream of the demo answers chat completions alone.';
    response.end(JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } }));
    return;
  }
  const body: unknown = JSON.parse((await readAll(request)).toString('utf8'));
  const stream = typeof body === 'object' && body !== null && 'stream' in body && body.stream === true;
  const form = stream ? 'sse' : 'whole';
  const path = request.url ?? '/';
  const { conversation, echo } = adapter.readRequest(body, { path, operation: 'generate', streamForm: form, headers: {} });
  const context: ReplyContext = {
    requestId: mintId('demo_'),
    model: demoModel,
    createdAt: Math.floor(Date.now() / 1000),
    now: () => Math.floor(Date.now() / 1000),
    streamForm: form,
    mintId,
    sealSignature: (signature) => signature,
    echo,
    inputEstimate: 0,
  };
  const asked = (body as { model?: unknown }).model;
  const events = reply(conversation, { mintId, model: typeof asked === 'string' ? asked : demoModel });
  if (!stream) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(adapter.writeWhole(foldEvents(events), context).body));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const writer = adapter.createWriter(context);
  for (const event of events) {
    if (response.destroyed) return;
    const text = writer.write(event);
    if (text !== '') response.write(text);
    if (event.type === 'text-delta') await new Promise((resolve) => setTimeout(resolve, wordMs));
  }
  response.end();
}

/** What the demo says: the caller's own last words, or a call of the first tool when tools were offered and none has answered yet. */
function reply(conversation: Conversation, { mintId, model }: { mintId: (prefix: string) => string; model: string }): ChatEvent[] {
  const factor = model === demoModel ? 1 : agentFactor;
  const tool = conversation.tools.find((one) => one.type === 'function');
  const answered = conversation.turns.some((turn) => turn.parts.some((part) => part.type === 'tool-result'));
  const tokens = factor * Math.ceil(JSON.stringify([conversation.system, conversation.turns]).length / 4);
  // What was there in an earlier turn comes from the provider's cache.
  const cacheRead = conversation.turns.length > 2 ? Math.floor(tokens * 0.7) : 0;
  const events: ChatEvent[] = [{ type: 'start', model }];
  let output: number;
  if (tool && !answered) {
    events.push(
      { type: 'block-start', index: 0, block: { type: 'tool-call', id: mintId('call_'), name: tool.name } },
      { type: 'arguments-delta', index: 0, text: '{}' },
      { type: 'block-end', index: 0 },
      { type: 'finish', reason: 'tool-calls' },
    );
    output = 8;
  } else {
    const words = `This is the demo upstream of the gateway. You said: ${lastText(conversation)}`.match(/\S+\s*/g) ?? [];
    events.push(
      { type: 'block-start', index: 0, block: { type: 'text' } },
      ...words.map((text): ChatEvent => ({ type: 'text-delta', index: 0, text })),
      { type: 'block-end', index: 0 },
      { type: 'finish', reason: 'stop' },
    );
    output = words.length;
  }
  events.push(
    { type: 'usage', usage: { input: tokens - cacheRead, cacheRead, cacheWrite5m: 0, cacheWrite1h: 0, output: output * factor, reasoning: 0 } },
    { type: 'end' },
  );
  return events;
}

function lastText(conversation: Conversation): string {
  for (const turn of [...conversation.turns].reverse()) {
    if (turn.role !== 'user') continue;
    const text = turn.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    if (text !== '') return text.slice(0, 2000);
  }
  return '(nothing)';
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new Error('the body is too large');
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}
