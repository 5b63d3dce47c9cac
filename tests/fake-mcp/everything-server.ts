/**
 * A server with everything that the protocol's conformance suite asks of one, on the official SDK, in both eras at one address. The suite calls tools, prompts
 * and resources by fixed names and brings no server of its own.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  classifyInboundRequest,
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

// biome-ignore lint/suspicious/noExplicitAny: a fixture passes on what the suite sends.
type Json = any;

/** One red pixel, and a moment of silence. */
const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const silence = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const image = { type: 'image', data: picture, mimeType: 'image/png' } as const;
const text = (said: string) => ({ type: 'text', text: said }) as const;
const said = (words: string) => ({ content: [text(words)] });
/** What tools need for what they do. */
const work = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const objectOf = (properties: Json, required = Object.keys(properties)) => ({ type: 'object', properties, required }) as const;
const nameForm = objectOf({ name: { type: 'string' } });

/** Answers that tools give without asking anybody. */
const plainTools: Record<string, () => Json> = {
  test_simple_text: () => said('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: silence, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [{ type: 'resource', resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' } }],
  }),
  test_multiple_content_types: () => ({
    content: [
      text('Multiple content types test:'),
      image,
      { type: 'resource', resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data","value":123}' } },
    ],
  }),
  test_error_handling: () => {
    throw new Error('This tool intentionally returns an error for testing');
  },
  test_streaming_elicitation: () => said('nothing was asked'),
};

/** What callers are asked for in the stream of a call: revisions with sessions. */
const forms: Record<string, Json> = {
  test_elicitation_sep1034_defaults: objectOf(
    {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    },
    [],
  ),
  test_elicitation_sep1330_enums: objectOf(
    {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: {
        type: 'string',
        oneOf: ['First', 'Second', 'Third'].map((title, at) => ({ const: `value${at + 1}`, title: `${title} Option` })),
      },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
      untitledMulti: { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: {
        type: 'array',
        minItems: 1,
        maxItems: 3,
        items: { anyOf: ['First', 'Second', 'Third'].map((title, at) => ({ const: `value${at + 1}`, title: `${title} Choice` })) },
      },
    },
    [],
  ),
};

const richSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const states = createRequestStateCodec<Record<string, unknown>>({ key: randomBytes(32) });
const stateOf = (parts: object) => states.mint({ ...parts, nonce: randomUUID() });
const askName = inputRequired.elicit({ message: 'What is your name?', requestedSchema: nameForm as Json });
const askGreeting = inputRequired.createMessage({ messages: [{ role: 'user', content: text('Generate a greeting') }], maxTokens: 50 });
const confirm = inputRequired.elicit({ message: 'Please confirm', requestedSchema: objectOf({ ok: { type: 'boolean' } }) as Json });

/** Tools that ask for more in their result, and are called again with it: the revision without sessions. */
const roundTools: Record<string, (request: Json) => Json> = {
  test_missing_capability: ({ inputResponses }) => (inputResponses?.answer ? said('done') : inputRequired({ inputRequests: { answer: askGreeting } })),
  test_input_required_result_elicitation({ inputResponses }) {
    const name = acceptedContent<Json>(inputResponses, 'user_name')?.name;
    return typeof name === 'string' ? said(`Hello, ${name}!`) : inputRequired({ inputRequests: { user_name: askName } });
  },
  test_input_required_result_sampling({ inputResponses }) {
    const answer = inputResponses?.capital_question as Json;
    const question = inputRequired.createMessage({ messages: [{ role: 'user', content: text('What is the capital of France?') }], maxTokens: 100 });
    return answer === undefined ? inputRequired({ inputRequests: { capital_question: question } }) : said(`Sampling response: ${answer.content?.text}`);
  },
  test_input_required_result_list_roots({ inputResponses }) {
    const { roots } = (inputResponses?.client_roots as Json) ?? {};
    return Array.isArray(roots)
      ? said(`Client exposed ${roots.length} root(s): ${roots.map(({ uri }: Json) => uri).join(', ')}`)
      : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  },
  async test_input_required_result_request_state(request) {
    if (acceptedContent(request.inputResponses, 'confirm') !== undefined && request.requestState() !== undefined) return said('state-ok: verified');
    return inputRequired({ inputRequests: { confirm }, requestState: await stateOf({ tool: 'request_state' }) });
  },
  async test_input_required_result_multiple_inputs({ inputResponses }) {
    const name = acceptedContent<Json>(inputResponses, 'user_name')?.name;
    const greeting = (inputResponses?.greeting as Json)?.content?.text;
    const roots = (inputResponses?.client_roots as Json)?.roots;
    if (typeof name === 'string' && typeof greeting === 'string' && Array.isArray(roots)) return said(`${greeting} ${name}, ${roots.length} root(s)`);
    const inputRequests = { user_name: askName, greeting: askGreeting, client_roots: inputRequired.listRoots() };
    return inputRequired({ inputRequests, requestState: await stateOf({ tool: 'multiple_inputs' }) });
  },
  async test_input_required_result_multi_round(request) {
    const { round = 0, name } = (request.requestState() as Json) ?? {};
    if (round === 0) return inputRequired({ inputRequests: { step1: askName }, requestState: await stateOf({ round: 1 }) });
    if (round === 1) {
      const given = acceptedContent<Json>(request.inputResponses, 'step1')?.name ?? 'unknown';
      const step2 = inputRequired.elicit({ message: 'What is your favorite color?', requestedSchema: objectOf({ color: { type: 'string' } }) as Json });
      return inputRequired({ inputRequests: { step2 }, requestState: await stateOf({ round: 2, name: given }) });
    }
    return said(`Multi-round complete: ${name} likes ${acceptedContent<Json>(request.inputResponses, 'step2')?.color}`);
  },
  async test_input_required_result_tampered_state(request) {
    if (request.requestState() !== undefined && acceptedContent(request.inputResponses, 'confirm') !== undefined) return said('integrity-ok: verified');
    return inputRequired({ inputRequests: { confirm }, requestState: await stateOf({ tool: 'tampered_state' }) });
  },
  test_input_required_result_capabilities({ inputResponses, envelope }) {
    if (inputResponses !== undefined) return said('Capability-aware input requests fulfilled');
    const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
    const inputRequests = {
      ...(declared.elicitation !== undefined && { user_name: askName }),
      ...(declared.sampling !== undefined && { greeting: askGreeting }),
      ...(declared.roots !== undefined && { client_roots: inputRequired.listRoots() }),
    };
    return Object.keys(inputRequests).length === 0 ? said('nothing can be asked') : inputRequired({ inputRequests });
  },
};

export class EverythingServer {
  readonly #server: Server;
  readonly #sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  /** Speaks the revision without sessions, and no other. */
  modernOnly = false;
  readonly #modern = createMcpHandler(() => this.#describe());
  readonly #handleModern = toNodeHandler(this.#modern);
  readonly #handleOnlyModern = toNodeHandler(createMcpHandler(() => this.#describe(), { legacy: 'reject' }));

  constructor() {
    this.#server = createServer((request, response) => void this.#handle(request, response).catch(() => response.destroy()));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host = '', origin } = request.headers;
    const isOwn = (name: string | undefined): boolean => name === undefined || /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(name);
    if (!isOwn(host) || !isOwn(origin === undefined ? undefined : URL.parse(origin)?.host)) return void response.writeHead(403).end();
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const raw = Buffer.concat(pieces).toString('utf8');
    let body: Json;
    try {
      body = raw === '' ? undefined : JSON.parse(raw);
    } catch {
      return answer(response, 400, -32700, 'Parse error');
    }
    const header = (name: string): string | undefined => (typeof request.headers[name] === 'string' ? request.headers[name] : undefined);
    if (this.modernOnly && request.method !== 'POST') return void response.writeHead(405).end();
    if (request.method === 'POST') {
      const said = { httpMethod: 'POST', protocolVersionHeader: header('mcp-protocol-version'), mcpMethodHeader: header('mcp-method'), body };
      if (this.modernOnly) return this.#handleOnlyModern(request, response, body);
      if (classifyInboundRequest(said as Json).kind !== 'legacy') return this.#handleModern(request, response, body);
    }
    const id = header('mcp-session-id');
    const known = id === undefined ? undefined : this.#sessions.get(id);
    if (known) return known.handleRequest(request, response, body);
    if (id !== undefined) return answer(response, 404, -32001, 'Session not found');
    if (body?.method !== 'initialize') return answer(response, 400, -32000, 'Bad Request: Session ID required');
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: createEventStore(),
      retryInterval: 500,
      onsessioninitialized: (session) => void this.#sessions.set(session, transport),
    });
    transport.onclose = () => void this.#sessions.delete(transport.sessionId ?? '');
    await this.#describe().connect(transport);
    await transport.handleRequest(request, response, body);
  }

  #describe(): McpServer {
    const server = new McpServer(
      { name: 'everything', version: '1.0.0' },
      {
        capabilities: {
          tools: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
          prompts: { listChanged: true },
          logging: {},
          completions: {},
        },
        requestState: { verify: states.verify },
      },
    );
    for (const [name, run] of Object.entries(plainTools)) server.registerTool(name, { description: name }, async () => run());
    for (const [name, run] of Object.entries(roundTools))
      server.registerTool(name, { description: name, inputSchema: z.object({}) }, async (_args, context) => run(context.mcpReq));
    this.#describeTalkingTools(server);
    server.registerTool(
      'test_x_mcp_header',
      {
        description: 'An argument that is repeated in a header',
        inputSchema: fromJsonSchema<Json>({
          type: 'object',
          properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, level: { type: 'integer' } },
        } as Json),
      },
      async (args: Json) => said(`region=${args.region ?? '<none>'}`),
    );
    server.registerTool(
      'json_schema_2020_12_tool',
      { description: 'A schema of many words', inputSchema: fromJsonSchema<Json>(richSchema as Json) },
      async (args: Json) => said(JSON.stringify(args)),
    );
    describeResources(server);
    describePrompts(server);
    return server;
  }

  /** Tools that say more than their result, or ask in between. */
  #describeTalkingTools(server: McpServer): void {
    const none = { description: 'Says or asks something', inputSchema: z.object({}) };
    server.registerTool('test_logging_tool', none, async (_args, { mcpReq }) => {
      await mcpReq.log('info', 'only for callers who asked for it');
      return said('logged');
    });
    server.registerTool('test_tool_with_logging', none, async (_args, { mcpReq }) => {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
        await work(50);
      }
      return said('Tool with logging executed successfully');
    });
    server.registerTool('test_tool_with_progress', none, async (_args, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: progressToken!, progress, total: 100 } });
        await work(50);
      }
      return said(String(progressToken ?? 'none'));
    });
    server.registerTool('test_reconnection', none, async (_args, { sessionId, mcpReq }) => {
      this.#sessions.get(sessionId ?? '')?.closeSSEStream(mcpReq.id);
      await work(100);
      return said('Reconnection test completed successfully.');
    });
    server.registerTool(
      'test_sampling',
      { description: 'Asks the model of the caller', inputSchema: z.object({ prompt: z.string() }) },
      async ({ prompt }, { mcpReq }) => {
        const params = { messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 };
        const result = (await mcpReq.send({ method: 'sampling/createMessage', params } as Json)) as Json;
        return said(`LLM response: ${result.content?.text}`);
      },
    );
    const elicit = async (mcpReq: Json, message: string, requestedSchema: Json) => {
      const { action, content = {} } = (await mcpReq.send({ method: 'elicitation/create', params: { message, requestedSchema } })) as Json;
      return said(`User response: action=${action}, content=${JSON.stringify(content)}`);
    };
    server.registerTool('test_elicitation', { description: 'Asks the user', inputSchema: z.object({ message: z.string() }) }, ({ message }, { mcpReq }) =>
      elicit(mcpReq, message, objectOf({ response: { type: 'string' } })),
    );
    for (const [name, schema] of Object.entries(forms))
      server.registerTool(name, none, (_args, { mcpReq }) => elicit(mcpReq, 'Please fill in the form', schema));
    server.registerTool('test_trigger_tool_change', none, async () => {
      this.#modern.notify.toolsChanged();
      return said('published');
    });
    server.registerTool('test_trigger_prompt_change', none, async () => {
      this.#modern.notify.promptsChanged();
      return said('published');
    });
  }
}

function answer(response: ServerResponse, status: number, code: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }));
}

function describeResources(server: McpServer): void {
  const add = (uri: string, contents: Json): void =>
    void server.registerResource(uri.slice('test://'.length), uri, { description: uri, mimeType: contents.mimeType }, async () => ({
      contents: [{ uri, ...contents }],
    }));
  add('test://static-text', { mimeType: 'text/plain', text: 'This is the content of the static text resource.' });
  add('test://static-binary', { mimeType: 'image/png', blob: picture });
  add('test://watched-resource', { mimeType: 'text/plain', text: 'Watched resource content' });
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'By id', mimeType: 'application/json' },
    async (uri, { id }) => ({
      contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }],
    }),
  );
  for (const method of ['resources/subscribe', 'resources/unsubscribe', 'logging/setLevel'] as const) server.server.setRequestHandler(method, async () => ({}));
  server.server.setRequestHandler('completion/complete', async () => ({ completion: { values: [], total: 0, hasMore: false } }));
}

function describePrompts(server: McpServer): void {
  const user = (content: Json) => ({ role: 'user' as const, content });
  server.registerPrompt('test_simple_prompt', { description: 'Simple' }, async () => ({ messages: [user(text('This is a simple prompt for testing.'))] }));
  server.registerPrompt('test_prompt_with_image', { description: 'With an image' }, async () => ({
    messages: [user(image), user(text('Please analyze the image above.'))],
  }));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'With arguments', argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    async ({ arg1, arg2 }) => ({
      messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    async ({ resourceUri }) => ({
      messages: [
        user({ type: 'resource', resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } }),
        user(text('Please process the embedded resource above.')),
      ],
    }),
  );
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks first' }, (async (context: Json) => {
    const given = acceptedContent<Json>(context.mcpReq.inputResponses, 'user_context')?.context;
    if (typeof given === 'string') return { messages: [user(text(`Use the following context: ${given}`))] };
    const form = objectOf({ context: { type: 'string' } }) as Json;
    return inputRequired({ inputRequests: { user_context: inputRequired.elicit({ message: 'Which context?', requestedSchema: form }) } });
  }) as Json);
}

/** Events of streams that were closed before their end, for clients who come back. */
function createEventStore(): Json {
  const events: { id: string; stream: string; message: unknown }[] = [];
  return {
    async storeEvent(stream: string, message: unknown) {
      const id = `${stream}::${String(events.length).padStart(9, '0')}`;
      events.push({ id, stream, message });
      return id;
    },
    async replayEventsAfter(last: string, { send }: { send(id: string, message: unknown): Promise<void> }) {
      const stream = last.split('::')[0] ?? last;
      for (const event of events)
        if (event.stream === stream && event.id > last && Object.keys(event.message as object).length > 0) await send(event.id, event.message);
      return stream;
    },
  };
}
