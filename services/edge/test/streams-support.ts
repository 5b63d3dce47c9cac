/** Callers that cut a stream after so many events and go on with it, and one short stream of each client protocol. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { bearer, type Caller } from './support.ts';

const sse = (event: string, data: object): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
const data = (value: object | string): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;

const words = ['Grüße', ', ', '世界', '!', ' \ud83d\ude00', ' "quoted"\n'];
const response = (status: string, output: object[] = []) => ({ id: 'resp_1', object: 'response', status, model: 'm', output, usage: null });
const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
const numbered = (events: readonly (readonly [string, object])[]): string[] =>
  events.map(([type, fields], sequence_number) => sse(type, { type, sequence_number, ...fields }));

/** How a stream of each protocol is asked for, and its events as they are on the wire. */
export const references: Readonly<Record<string, { path: string; body: object; events: readonly string[] }>> = {
  chat: {
    path: '/v1/chat/completions',
    body: { model: 'm', stream: true, messages: [] },
    events: [
      ...words.map((content) =>
        data({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
      ),
      data({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      data('[DONE]'),
    ],
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'm', stream: true, input: 'x' },
    events: numbered([
      ['response.created', { response: response('in_progress') }],
      ['response.in_progress', { response: response('in_progress') }],
      ['response.output_item.added', { output_index: 0, item }],
      ['response.content_part.added', { item_id: 'msg_1', output_index: 0, content_index: 0, part: { type: 'output_text', text: '', annotations: [] } }],
      ...words.map((delta) => ['response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta }] as const),
      ['response.output_text.done', { item_id: 'msg_1', output_index: 0, content_index: 0, text: words.join('') }],
      ['response.output_item.done', { output_index: 0, item: { ...item, status: 'completed' } }],
      ['response.completed', { response: response('completed', [{ ...item, status: 'completed' }]) }],
    ]),
  },
  messages: {
    path: '/v1/messages',
    body: { model: 'm', stream: true, max_tokens: 9, messages: [] },
    events: [
      sse('message_start', {
        type: 'message_start',
        message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
      }),
      sse('content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      sse('ping', { type: 'ping' }),
      ...words.map((text) => sse('content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      sse('content_block_stop', { type: 'content_block_stop', index: 0 }),
      sse('message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } }),
      sse('message_stop', { type: 'message_stop' }),
    ],
  },
  'generate-content': {
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: { contents: [] },
    events: words.map(
      (text, at) =>
        // As Google writes it.
        `data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...(at === words.length - 1 && { finishReason: 'STOP' }) }] })}\r\n\r\n`,
    ),
  },
};

export interface Cut {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

/** A request whose answer is read as it comes. */
export interface Reading {
  reply: Promise<IncomingMessage>;
  /** What came so far, without keep-alives, which may come at any time. */
  text(): string;
  /** How it ended: whole, or broken off. */
  ended: Promise<'whole' | 'broken'>;
  leave(): void;
  request: ClientRequest;
}

/** `paused`: nothing is read. */
export function read(
  url: string,
  caller: Caller,
  { method = 'GET', headers = {}, body, paused = false }: { method?: string; headers?: Record<string, string>; body?: object; paused?: boolean } = {},
): Reading {
  const parts: Buffer[] = [];
  let settle: (how: 'whole' | 'broken') => void = () => undefined;
  const ended = new Promise<'whole' | 'broken'>((resolve) => {
    settle = resolve;
  });
  const asked = request(url, { method, agent: false, headers: { ...bearer(caller), ...(body && { 'content-type': 'application/json' }), ...headers } });
  const reply = new Promise<IncomingMessage>((resolve, reject) => {
    asked.on('response', (response) => {
      response.on('error', () => settle('broken'));
      response.on('end', () => settle(response.complete ? 'whole' : 'broken'));
      response.on('close', () => settle(response.complete ? 'whole' : 'broken'));
      if (!paused) response.on('data', (chunk: Buffer) => parts.push(chunk));
      resolve(response);
    });
    asked.on('error', (error) => {
      settle('broken');
      reject(error);
    });
  });
  reply.catch(() => undefined);
  asked.end(body && JSON.stringify(body));
  return { reply, ended, request: asked, text: () => Buffer.concat(parts).toString('utf8').replaceAll(':keep-alive\n\n', ''), leave: () => asked.destroy() };
}

/** The whole answer. */
export async function readAll(url: string, caller: Caller, headers: Record<string, string> = {}, method = 'GET'): Promise<Cut> {
  const reading = read(url, caller, { headers, method });
  const reply = await reading.reply;
  await reading.ended;
  return { status: reply.statusCode ?? 0, headers: reply.headers, text: reading.text() };
}

export const resuming = { 'x-gateway-resume': '1' };
