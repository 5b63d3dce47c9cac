/** Every HTTP exchange at `/mcp`: which address, which method, which messages. */
import type { ServerStream } from '@model-gateway/bus';
import type { McpExchange } from '@model-gateway/contracts';
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import { isServerVisible } from '../access/decide.ts';
import { type Message, printError, printResult, RpcError } from '../protocol/json-rpc.ts';
import { type Era, errorCodes, isModern } from '../protocol/versions.ts';
import type { McpServer } from '../servers/server.ts';
import { ServersError } from './call-tool.ts';
import { type Caller, faultOfQuery, readCaller } from './caller.ts';
import type { Asked, EndpointContext } from './context.ts';
import { IncomingError, paramsOf, readIncoming } from './incoming.ts';
import { answerRequest, watchList } from './methods.ts';
import { Reply } from './reply.ts';
import type { Session } from './sessions.ts';

/** One exchange that was let in. */
interface Entered {
  exchange: McpExchange;
  caller: Caller;
  scope: McpServer | null;
  reply: Reply;
  body: Buffer;
}

/** A stream of the first transport, and what is being answered on it. */
interface EventStream {
  reply: Reply;
  answering: Set<Promise<void>>;
}

const sessionNotFound = -32001;
/** A call that takes longer is answered as a stream. */
const quietMs = 10_000;

export class Endpoint {
  readonly #context: EndpointContext;
  readonly #stopping: AbortSignal;
  /** Streams of the first transport, by session. */
  readonly #streams = new Map<string, EventStream>();
  readonly #open = new Set<{ caller: Caller; reply: Reply }>();
  /** One for each request that is being answered, with the reply that its answer is part of. */
  readonly #answering = new Map<AbortController, Reply>();

  constructor(context: EndpointContext, stopping: AbortSignal) {
    this.#context = context;
    this.#stopping = stopping;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Never throws. */
  handle(exchange: McpExchange, body: Uint8Array, stream: ServerStream<'mcp.exchange'>): void {
    const reply = new Reply(stream);
    const query = new URLSearchParams(exchange.query);
    const fault = faultOfQuery(query);
    if (fault !== null) return refuse(reply, 400, errorCodes.invalidRequest, fault);
    const snapshot = this.#context.snapshot();
    const caller = snapshot && readCaller(exchange.caller, query, snapshot, this.#context.maxToolTokens);
    if (!caller) return refuse(reply, snapshot ? 403 : 503, errorCodes.server, 'The access key may not be used.');
    const held = { caller, reply };
    this.#open.add(held);
    void this.#route({ exchange, caller, scope: null, reply, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) }, query)
      .catch((error: unknown) => {
        this.#context.logger.error({ error, request: exchange.id }, 'defect in an MCP exchange');
        refuse(reply, 500, errorCodes.internal, 'Internal error');
      })
      .finally(() => this.#open.delete(held));
  }

  /** Ends the streams of access keys and groups that may not be used any more; what is under way on one is answered with an error first, and the next check ends it. */
  checkAccess(mayStay: (caller: Caller) => boolean): void {
    for (const { caller, reply } of this.#open) {
      if (!reply.streaming || mayStay(caller)) continue;
      const underWay = [...this.#answering].filter(([, own]) => own === reply);
      for (const [cancel] of underWay) cancel.abort(new GatewayError('unauthorized'));
      if (underWay.length === 0) reply.close();
    }
  }

  /** Answers what is under way with this error; its servers learn that nobody waits any more. */
  interrupt(error: GatewayError): void {
    for (const cancel of this.#answering.keys()) cancel.abort(error);
  }

  async #route(entered: Entered, query: URLSearchParams): Promise<void> {
    const { exchange, reply } = entered;
    // The lookbehind lets a match begin only at the first slash of a run; otherwise a long run inside the path would take quadratic time.
    const path = exchange.path.replace(/(?<!\/)\/+$/, '');
    const { method } = exchange;
    if (path === '/mcp/sse') return method === 'GET' ? this.#openStream(entered) : notAllowed(reply, 'GET');
    if (path === '/mcp/messages') return method === 'POST' ? this.#postToStream(entered, query) : notAllowed(reply, 'POST');
    const name = path === '/mcp' ? null : decode(path.slice('/mcp/'.length));
    if (name !== null) {
      const server = this.#context.registry.find(name);
      if (!server || !isServerVisible(entered.caller.acl, { server: name, tags: server.record.tags }))
        return refuse(reply, 404, errorCodes.server, 'There is no MCP server of this name.');
      entered.scope = server;
    }
    if (method === 'POST') return this.#post(entered);
    const session = exchange.headers['mcp-session-id'];
    // Streams and ends belong to sessions, which the newer era does not have.
    if (session === undefined || isModern(exchange.headers['mcp-protocol-version'])) return notAllowed(reply, 'POST');
    if (method === 'GET') return this.#listen(entered, session);
    if (method === 'DELETE') return this.#end(entered, session);
    return notAllowed(reply, 'GET, POST, DELETE');
  }

  async #post(entered: Entered): Promise<void> {
    const { exchange, reply, caller, scope, body } = entered;
    const { headers } = exchange;
    if (!/^application\/json\b/i.test(headers['content-type'] ?? 'application/json'))
      return refuse(reply, 415, errorCodes.server, 'The content type must be application/json.');
    if (!accepts(headers['accept'], 'application/json') || !accepts(headers['accept'], 'text/event-stream'))
      return refuse(reply, 406, errorCodes.server, 'Not Acceptable: the client must accept both application/json and text/event-stream.');
    let incoming: ReturnType<typeof readIncoming>;
    try {
      incoming = readIncoming(body, headers);
    } catch (error) {
      if (!(error instanceof IncomingError)) throw error;
      return reply.end(error.error.status ?? 400, printError(error.id, error.error.print()));
    }
    const id = headers['mcp-session-id'];
    let session: Session | null = null;
    if (incoming.era === 'session' && id !== undefined && !isInitialize(incoming.messages)) {
      session = this.#context.sessions.find(id, caller.facts.owner, scope?.name ?? null);
      if (!session) return refuse(reply, 404, sessionNotFound, 'Session not found');
    }
    const said = { ...entered, era: incoming.era, session };
    if (incoming.batch) return this.#batch(incoming.messages, said);
    return this.#message(incoming.messages[0]!, said);
  }

  async #message(message: Message, entered: Entered & { era: Era; session: Session | null }): Promise<void> {
    const { reply } = entered;
    if (message.kind !== 'request') {
      this.#notice(message, entered);
      return reply.empty(202);
    }
    const { text, status } = await this.#answer(message, entered);
    reply.end(status, text);
  }

  async #batch(messages: readonly Message[], entered: Entered & { era: Era; session: Session | null }): Promise<void> {
    const { reply } = entered;
    const answers = await Promise.all(
      messages.map(async (message) => {
        if (message.kind === 'request') return (await this.#answer(message, entered)).text;
        this.#notice(message, entered);
        return null;
      }),
    );
    const texts = answers.filter((text) => text !== null);
    if (texts.length === 0) return reply.empty(202);
    if (!reply.streaming) return reply.end(200, `[${texts.join(',')}]`);
    for (const text of texts) reply.event(text);
    reply.close();
  }

  /** The answer of one request, and the status that it has where it is the whole reply. */
  async #answer(
    { id, method, params }: Message & { kind: 'request' },
    entered: Entered & { era: Era; session: Session | null },
  ): Promise<{ text: string; status: number }> {
    const { exchange, reply, era, session, caller } = entered;
    const cancel = new AbortController();
    this.#answering.set(cancel, reply);
    const key = runningKey(session, caller, id);
    if (era === 'session') this.#context.running.set(key, cancel);
    const signal = AbortSignal.any([reply.left, cancel.signal, ...(method === 'subscriptions/listen' ? [this.#stopping] : [])]);
    // What stands between may cut a connection that says nothing: a stream of events has something to say.
    const beginStream = setTimeout(() => reply.open(), quietMs).unref();
    const asked: Asked = { exchange, caller, scope: entered.scope, era, session, reply, signal, method, params, id };
    try {
      return { text: printResult(id, await answerRequest(asked, this.#context)), status: 200 };
    } catch (error) {
      const { reason } = cancel.signal;
      if (isGatewayError(reason)) return { text: printError(id, printFailure(reason)), status: reason.status };
      if (error instanceof ServersError) return { text: printError(id, error.text), status: era === 'modern' ? statusOf(error.code, undefined) : 200 };
      if (error instanceof RpcError) return { text: printError(id, error.print()), status: era === 'modern' ? statusOf(error.code, error.status) : 200 };
      this.#context.logger.error({ error, request: exchange.id, method }, 'defect in an MCP reply');
      return { text: printError(id, JSON.stringify({ code: errorCodes.internal, message: 'Internal error' })), status: 500 };
    } finally {
      clearTimeout(beginStream);
      this.#answering.delete(cancel);
      if (this.#context.running.get(key) === cancel) this.#context.running.delete(key);
    }
  }

  /** What wants no answer: notifications, and answers to what servers asked. */
  #notice(message: Exclude<Message, { kind: 'request' }>, { session, caller }: { session: Session | null; caller: Caller }): void {
    if (message.kind === 'notification') {
      if (message.method !== 'notifications/cancelled') return;
      const { requestId } = paramsOf(message);
      this.#context.running.get(runningKey(session, caller, JSON.stringify(requestId)))?.abort();
      return;
    }
    const id = message.id?.startsWith('"') ? (JSON.parse(message.id) as string) : null;
    if (id === null || session === null) return;
    session.asked.get(id)?.(message);
    session.asked.delete(id);
  }

  /** The stream of what belongs to no request of a session. */
  async #listen({ exchange, reply, caller, scope }: Entered, id: string): Promise<void> {
    if (!accepts(exchange.headers['accept'], 'text/event-stream'))
      return refuse(reply, 406, errorCodes.server, 'Not Acceptable: the client must accept text/event-stream.');
    const session = this.#context.sessions.find(id, caller.facts.owner, scope?.name ?? null);
    if (!session) return refuse(reply, 404, sessionNotFound, 'Session not found');
    reply.open();
    session.listeners.add(reply);
    const stop = watchList({ caller, scope }, this.#context, () => reply.event('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'));
    await over(reply, this.#stopping);
    stop();
    session.listeners.delete(reply);
    reply.close();
  }

  async #end({ reply, caller, scope }: Entered, id: string): Promise<void> {
    const session = this.#context.sessions.find(id, caller.facts.owner, scope?.name ?? null);
    if (!session) return refuse(reply, 404, sessionNotFound, 'Session not found');
    this.#context.sessions.end(session);
    for (const server of this.#context.registry.servers) void server.dropSessions((_owner, own) => own === session.id);
    reply.empty(204);
  }

  /** The first transport: answers come on this stream, requests are posted beside it. */
  async #openStream({ exchange, reply, caller }: Entered): Promise<void> {
    if (!accepts(exchange.headers['accept'], 'text/event-stream'))
      return refuse(reply, 406, errorCodes.server, 'Not Acceptable: the client must accept text/event-stream.');
    const session = this.#context.sessions.open({ owner: caller.facts.owner, scope: null, version: '2024-11-05', capabilities: '{}' });
    if (!session) return refuse(reply, 503, errorCodes.server, 'The gateway cannot open sessions yet.');
    const stream: EventStream = { reply, answering: new Set() };
    this.#streams.set(session.id, stream);
    reply.named('endpoint', `/mcp/messages?sessionId=${session.id}${exchange.query === '' ? '' : `&${exchange.query}`}`);
    const stop = watchList({ caller, scope: null }, this.#context, () => reply.event('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'));
    await over(reply, this.#stopping);
    stop();
    // A process that leaves answers first what it was asked: there is no other way to the caller.
    while (stream.answering.size > 0 && !reply.ended) await Promise.all(stream.answering);
    this.#streams.delete(session.id);
    this.#context.sessions.end(session);
    for (const server of this.#context.registry.servers) void server.dropSessions((_owner, own) => own === session.id);
    reply.close();
  }

  #answerOn({ reply, answering }: EventStream, message: Message & { kind: 'request' }, entered: Entered & { era: Era; session: Session }): void {
    const answer = this.#answer(message, entered).then(({ text }) => reply.event(text));
    answering.add(answer);
    void answer.finally(() => answering.delete(answer));
  }

  async #postToStream(entered: Entered, query: URLSearchParams): Promise<void> {
    const { reply, caller, body } = entered;
    const id = query.get('sessionId') ?? '';
    const stream = this.#streams.get(id);
    const session = stream && this.#context.sessions.find(id, caller.facts.owner, null);
    if (!stream || !session) return refuse(reply, 404, sessionNotFound, 'Session not found');
    let incoming: ReturnType<typeof readIncoming>;
    try {
      incoming = readIncoming(body, {});
      if (incoming.era === 'modern')
        throw new IncomingError(null, new RpcError(errorCodes.invalidRequest, 'Invalid Request: this revision does not belong to this transport'));
    } catch (error) {
      if (!(error instanceof IncomingError)) throw error;
      return reply.end(400, printError(error.id, error.error.print()));
    }
    reply.end(202, '"Accepted"');
    const own = { ...entered, reply: stream.reply, era: 'session' as const, session };
    for (const message of incoming.messages) {
      if (message.kind !== 'request') this.#notice(message, own);
      else this.#answerOn(stream, message, own);
    }
  }
}

/** A failure of the gateway's own, as the edge writes it too. */
const printFailure = ({ code, message }: GatewayError): string => JSON.stringify({ code: errorCodes.server, message, data: { code } });

const isInitialize = (messages: readonly Message[]): boolean => messages[0]?.kind === 'request' && messages[0].method === 'initialize';

const runningKey = (session: Session | null, caller: Caller, id: string): string => `${session?.id ?? caller.facts.owner}\n${id}`;

/** HTTP statuses of errors in modern terms; what a handler found is an answer like others. */
function statusOf(code: number, own: number | undefined): number {
  if (own !== undefined) return own;
  if (code === errorCodes.methodNotFound) return 404;
  return code === errorCodes.missingCapability ? 400 : 200;
}

function accepts(header: string | undefined, type: string): boolean {
  if (header === undefined || header === '') return true;
  const [family] = type.split('/', 1);
  return header.split(',').some((part) => {
    const name = part.split(';', 1)[0]!.trim().toLowerCase();
    return name === '*/*' || name === type || name === `${family}/*`;
  });
}

function refuse(reply: Reply, status: number, code: number, message: string): void {
  reply.end(status, printError(null, JSON.stringify({ code, message })));
}

function notAllowed(reply: Reply, allow: string): void {
  reply.setHeader('allow', allow);
  refuse(reply, 405, errorCodes.server, 'Method not allowed.');
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}

/** Resolves when the caller has left, the stream was ended, or the process stops. */
function over(reply: Reply, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stopping.aborted || reply.left.aborted) return resolve();
    const look = setInterval(() => {
      if (reply.ended) done();
    }, 1000).unref();
    const done = (): void => {
      clearInterval(look);
      reply.left.removeEventListener('abort', done);
      stopping.removeEventListener('abort', done);
      resolve();
    };
    reply.left.addEventListener('abort', done, { once: true });
    stopping.addEventListener('abort', done, { once: true });
  });
}
