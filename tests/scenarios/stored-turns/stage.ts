/** A gateway over upstreams of six protocols that do what the caller's words say, and the official SDK that leaves its turns with it. */
import { randomUUID } from 'node:crypto';
import type { Loss, ProtocolId } from '@model-gateway/contracts';
import { mintAccessKey } from '@model-gateway/secrets';
import OpenAI from 'openai';
import type { Response, ResponseCreateParams } from 'openai/resources/responses/responses';
import { type FakeUpstream, type Play, startFakeUpstream, type UpstreamRequest } from '../../fake-upstream/index.ts';
import { borrowGateway, type GatewayOptions, startGateway, type TestGateway, until } from '../../support/gateway.ts';

/** Each a host of its own, with the vendor's model that it looks at requests for. */
const hosts = {
  alpha: ['alpha', 'gpt-4.1'],
  alpha_response: ['alpha_response', 'gpt-5.2'],
  beta: ['beta', 'claude-sonnet-4-5'],
  gamma: ['gamma', 'gemini-3-flash-preview'],
  cloudhost_converse: ['cloudhost_converse', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  delta: ['delta', 'qwen3-vl-plus'],
} as const satisfies Record<string, readonly [ProtocolId, string]>;
export type Host = keyof typeof hosts;
export const hostNames = Object.keys(hosts) as Host[];
/** Whose reasoning carries a signature that they want to have back. */
export const signingHosts: readonly Host[] = ['alpha_response', 'beta', 'gamma', 'cloudhost_converse'];

// biome-ignore lint/suspicious/noExplicitAny: bodies and replies are looked into freely.
export type Json = any;
export type Params = Omit<ResponseCreateParams, 'model' | 'stream'> & { model?: string };

/** Of a function that the scripted models know. */
const tool = (name: string) => ({
  type: 'function' as const,
  name,
  description: `Use ${name}`,
  strict: false,
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
});
export const tools = [tool('look'), tool('find')];

/** Begins every signature of this host, in base64. */
const signatureOf = (host: string, number: number): string => Buffer.from(`signed by ${host}, `.padEnd(30, '.') + number + '.'.repeat(60)).toString('base64');
/** Hosts whose signatures stand in the text. */
export const signersIn = (text: string): Host[] =>
  hostNames.filter((host) => text.includes(Buffer.from(`signed by ${host}, `.padEnd(30, '.')).toString('base64')));

let signatures = 0;
/**
 * The last command in the conversation decides: `say-x` is answered `said x`, `think-x` likewise after reasoning, `call-look` calls the tool, `calls-x` both
 * tools; what a tool gave (`output-x`) is answered `read x`.
 */
const play: Play = (body, path) => {
  const [, command = 'say', word = 'nothing'] = [...JSON.stringify(body).matchAll(/\b(say|think|call|calls|output)-([a-z0-9]+)/g)].at(-1) ?? [];
  const thinking = { text: `thinking of ${word}`, signature: signatureOf(path.split('/')[1] ?? '', signatures++) };
  if (command === 'think') return { text: `said ${word}`, thinking };
  if (command === 'output') return { text: `read ${word}` };
  if (command === 'call') return { call: 'look', args: { path: `/${word}` }, thinking };
  if (command === 'calls') return { call: 'look', args: { path: `/${word}` }, also: [{ call: 'find', args: { path: `/${word}` } }], thinking };
  return { text: `said ${word}` };
};

export interface Stage {
  gateway: TestGateway;
  fake: FakeUpstream;
  /** Of the caller that suites mostly are. */
  client: OpenAI;
  /** Another key of the same group, with its client. */
  addKey(name: string, key?: string, group?: string): Promise<OpenAI>;
  clientOf(key: string, url?: string): OpenAI;
  /** Asks, whole or as a stream, and gives what the caller holds in the end. */
  ask(params: Params, options?: AskOptions): Promise<Asked>;
  /** A turn once its end is stored, which on a busy machine is a moment after its caller has seen it. */
  retrieveEnded(id: string, by?: OpenAI): Promise<Response>;
  /** What hosts were asked to generate since the last call of this, oldest first. */
  takeRequests(): UpstreamRequest[];
  /** Losses of the request, from its row. */
  losses(id: string): Promise<Loss[]>;
  stop(): Promise<void>;
}

export interface AskOptions {
  stream?: boolean;
  client?: OpenAI;
}

export interface Asked {
  response: Response;
  /** Its `z-request-id`. */
  id: string;
  headers: Headers;
  /** Of a stream, as they came. */
  events: Json[];
}

const keyOf = (host: Host): string => (host === 'cloudhost_converse' ? 'AKIAFAKEFAKEFAKEFAKE:fake/secret+access/key' : `sk-fake-${host}`);

/** `borrowed`: on a gateway that other suites had before (`borrowGateway`). `scripts`: further models `<host> <script>` of every host, by the script ids of the fake upstream. */
export async function openStage({ borrowed = false, ...options }: GatewayOptions & { borrowed?: boolean }, scripts: readonly string[] = []): Promise<Stage> {
  const fake = await startFakeUpstream({ play });
  const gateway = await (borrowed ? borrowGateway(options) : startGateway(options));
  await gateway.configure({
    upstreams: hostNames.map((name) => ({ name, protocol: hosts[name][0], base_url: `${fake.url}/${name}`, api_keys: [{ key: keyOf(name) }] })),
    models: hostNames.flatMap((name) => [
      { name, upstream: name, upstream_model_id: `${hosts[name][1]}@play` },
      ...scripts.map((script) => ({ name: `${name} ${script}`, upstream: name, upstream_model_id: script })),
    ]),
  });
  const clientOf = (key: string, url = gateway.url): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  const client = clientOf(gateway.key);
  let seen = 0;
  return {
    gateway,
    fake,
    client,
    clientOf,
    async addKey(name, key = mintAccessKey(), group = 'everyone') {
      await gateway.configure({ access_keys: [{ name, group, key }] });
      return clientOf(key);
    },
    ask: (params, { stream = false, client: by = client } = {}) => ask(by, params, stream),
    async retrieveEnded(id, by = client) {
      let turn = await by.responses.retrieve(id);
      await until(async () => {
        if (turn.status === 'in_progress') turn = await by.responses.retrieve(id);
        return turn.status !== 'in_progress';
      }, 'the end of a turn to be stored');
      return turn;
    },
    takeRequests() {
      const taken = fake.requests.slice(seen).filter(({ method }) => method === 'POST');
      seen = fake.requests.length;
      return taken;
    },
    losses: async (id) => (await gateway.row(id)).losses,
    async stop() {
      await gateway.stop();
      await fake.close();
    },
  };
}

async function ask(client: OpenAI, params: Params, stream: boolean): Promise<Asked> {
  const id = randomUUID();
  const options = { headers: { 'z-request-id': id } };
  if (!stream) {
    const { data, response } = await client.responses.create({ ...params, stream: false } as ResponseCreateParams, options).withResponse();
    return { response: data as Response, id, headers: response.headers, events: [] };
  }
  const { data, response } = await client.responses.create({ ...params, stream: true } as ResponseCreateParams, options).withResponse();
  const events: Json[] = [];
  for await (const event of data as AsyncIterable<Json>) events.push(event);
  const last = events.findLast((event) => event.response !== undefined);
  return { response: last?.response, id, headers: response.headers, events };
}

/** The status, code and message of what the SDK threw. */
export async function refusalOf(
  asked: Promise<unknown>,
): Promise<{ status: number; code: string | null; type: string | null; message: string; param: string | null }> {
  try {
    await asked;
  } catch (error) {
    if (!(error instanceof OpenAI.APIError)) throw error;
    const { message, type = null, code = null, param = null } = error.error as Json;
    return { status: error.status as number, code, type, message, param };
  }
  throw new Error('it was answered');
}

/** The text of a response's messages. */
export const textOf = (response: Response): string =>
  response.output.flatMap((item) => (item.type === 'message' ? item.content.map((part) => (part.type === 'output_text' ? part.text : '')) : [])).join('');
export const callsOf = (response: Response) => response.output.filter((item) => item.type === 'function_call');
