/** Who gives up on a request, and what its row says of it: a caller who leaves, a caller whose upstream is read on for the bill, a deadline. */
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess, until } from '../support/in-process.ts';

const event = (value: unknown): string => `data: ${JSON.stringify({ id: 'x', model: 'real', ...(value as object) })}\n\n`;
/** Far beyond what leaving takes, so that the two are told apart. */
const deadlineMs = 12_000;
let upstream: Server;
let gateway: InProcessGateway;
let open = 0;
let received = 0;
/** Ends the replies that `whole` and `billed` have begun. */
const held: (() => void)[] = [];
const whole = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'real',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});

beforeAll(async () => {
  upstream = createServer((incoming, response) => {
    open++;
    received++;
    response.on('close', () => open--);
    incoming.resume();
    if (incoming.url!.startsWith('/silent')) return;
    if (incoming.url!.startsWith('/whole')) {
      held.push(() => response.writeHead(200, { 'content-type': 'application/json' }).end(whole));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event({ choices: [{ index: 0, delta: { content: 'hello' }, finish_reason: null }] }));
    if (incoming.url!.startsWith('/stalled')) return;
    const usage = { prompt_tokens: 3, completion_tokens: 2 };
    held.push(() => response.end(`${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}${event({ choices: [], usage })}data: [DONE]\n\n`));
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const at = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const names = ['silent', 'stalled', 'billed', 'whole'];
  gateway = await startInProcess({
    upstreams: names.map((name) => ({
      name,
      protocol: 'alpha',
      base_url: `${at}/${name}`,
      api_keys: [{ key: 'sk-upstream' }],
      ...((name === 'billed' || name === 'whole') && { on_client_abort: 'drain' as const }),
    })),
    models: names.map((name) => ({ name, upstream: name, upstream_model_id: 'real' })),
    edge: { maxRequestMs: deadlineMs },
    drains: { max: 1, ms: 20_000 },
  });
});
afterAll(async () => {
  await gateway.stop();
  upstream.closeAllConnections();
  upstream.close();
});

const init = (model: string, id: string, stream: boolean) => ({
  method: 'POST',
  headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': id },
  body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hi' }] }),
});
/** The row that counts: the translator's replaces the edge's. */
const finalRow = (id: string) => until(() => gateway.rows.find((row) => row.client_request_id === id && row.authority === 2), `the translator's row of ${id}`);

async function leave(model: string, id: string, stream = true): Promise<void> {
  const { body, ...options } = init(model, id, stream);
  const before = received;
  const call = request(`${gateway.url}/v1/chat/completions`, options);
  call.on('error', () => {});
  call.end(body);
  await until(() => received > before, 'the call to reach the upstream');
  setTimeout(() => call.destroy(), 50);
}

test.each(['silent', 'stalled'])('a caller who disconnects cancels a %s upstream within a second', async (model) => {
  await leave(model, `leave-${model}`);
  await until(() => open === 0, 'the upstream call to be closed', deadlineMs - 500);
  expect(await finalRow(`leave-${model}`)).toMatchObject({ status: 499, error_code: 'client_gone' });
});

test('callers who send all of it and leave at once hold nothing', async () => {
  const { method, headers, body } = init('silent', 'gone-at-once', false);
  const lines = Object.entries({ host: 'x', ...headers, 'content-length': String(body.length) }).map(([name, value]) => `${name}: ${value}\r\n`);
  const leaving = Array.from({ length: 100 }, () => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1', () => {
      socket.write(`${method} /v1/chat/completions HTTP/1.1\r\n${lines.join('')}\r\n${body}`, () => socket.destroy());
    });
    return new Promise((resolve) => socket.on('error', () => {}).on('close', resolve));
  });
  await Promise.all(leaving);
  const rows = () => gateway.rows.filter((row) => row.client_request_id === 'gone-at-once');
  await until(() => rows().length > 0, 'a row of one who left');
  const held = async (): Promise<string[]> =>
    (await gateway.metrics()).split('\n').filter((line) => /^gateway_(request_body_bytes|requests_active)\b/.test(line) && !line.endsWith(' 0'));
  await until(async () => (await held()).length === 0, 'everything to be let go of', deadlineMs - 500);
  expect(rows().map((row) => row.status)).toEqual(rows().map(() => 499));
});

test('an upstream that is read on after the caller left gives the exact bill', async () => {
  await leave('billed', 'leave-billed');
  await until(() => gateway.rows.some((row) => row.client_request_id === 'leave-billed'), 'the caller to have left');
  for (const end of held.splice(0)) end();
  expect(await finalRow('leave-billed')).toMatchObject({ status: 499, error_code: 'client_gone', usage_source: 'upstream', input_tokens: 3, output_tokens: 2 });
});

test('a whole reply is read on for too, as many at once as the operator allows', async () => {
  await leave('whole', 'whole-1', false);
  await until(() => gateway.rows.some((row) => row.client_request_id === 'whole-1'), 'the first to have left');
  await leave('whole', 'whole-2', false);
  // The second is one too many: it is cancelled while the first goes on.
  expect(await finalRow('whole-2')).toMatchObject({ status: 499, error_code: 'client_gone', usage_source: null });
  await until(() => open === 1, 'the second call to be closed');
  expect(gateway.rows.filter((row) => row.client_request_id === 'whole-1' && row.authority === 2)).toEqual([]);
  for (const end of held.splice(0)) end();
  expect(await finalRow('whole-1')).toMatchObject({ status: 499, error_code: 'client_gone', usage_source: 'upstream', input_tokens: 3, output_tokens: 2 });
});

const late = [
  ['silent', false, 504],
  ['silent', true, 504],
  ['stalled', true, 200],
] as const;
const lateId = (model: string, stream: boolean): string => `late-${model}-${stream}`;
const askLate = async (model: string, stream: boolean): Promise<{ status: number; text: string }> => {
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, init(model, lateId(model, stream), stream));
  return { status: reply.status, text: await reply.text() };
};
/** All are asked at once, by whichever test comes first: each of them takes as long as the deadline. */
let askedLate: Map<string, ReturnType<typeof askLate>> | undefined;

test.each(late)('past its deadline a call of a %s upstream (stream: %p) ends with %d, and both rows agree', async (model, stream, status) => {
  const id = lateId(model, stream);
  askedLate ??= new Map(late.map(([which, streams]) => [lateId(which, streams), askLate(which, streams)]));
  const reply = await askedLate.get(id)!;
  expect(reply.status).toBe(status);
  const { text } = reply;
  if (status === 200) expect(text).toMatch(/"_gateway_warning":\{"reason":"timeout".*\n\ndata: \[DONE\]\n\n$/s);
  expect(await finalRow(id)).toMatchObject({ status, error_code: 'timeout' });
  const rows = () => gateway.rows.filter((row) => row.client_request_id === id);
  await until(() => rows().length >= 2, "the edge's row too");
  expect(rows().map((row) => [row.status, row.error_code])).toEqual([
    [status, 'timeout'],
    [status, 'timeout'],
  ]);
});
