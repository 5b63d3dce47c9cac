/**
 * What is still unfinished when a drain is over, and is no reply yet: uploads that are under way, requests that wait for money, and calls of tools that hang.
 * Each is answered. A task that its upstream says nothing about keeps no process from ending.
 */
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { ToolServer } from '../fake-mcp/tool-server.ts';
import { AnsweringServer, answerJson } from '../support/answering-server.ts';
import { type Arrangement, arrangements, splitAvailable, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { postMcp, toolNames } from '../support/mcp-posts.ts';
import { readSse } from '../support/read-sse.ts';

const draining = { code: 'draining' };
const head = '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nears\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n';
const server = new AnsweringServer();
const silent = new AnsweringServer();
const tools = new ToolServer('modern');
const poor = mintAccessKey();
let gateway: TestGateway;

beforeAll(async () => {
  server.answer = answerJson({ text: 'x' });
  silent.answer = () => undefined;
  await Promise.all([server.start(), silent.start(), tools.start()]);
});
afterAll(() => {
  server.stop();
  silent.stop();
  tools.stop();
});

async function start(arrangement: Arrangement): Promise<void> {
  gateway = await startGateway({ arrangement, mcp: true, toml: { server: { drain_seconds: 2 } } });
  await gateway.configure({
    upstreams: [
      { name: 'sound', protocol: 'alpha_audio', base_url: server.address, api_keys: [{ key: 'sk-of-sound' }] },
      { name: 'films', protocol: 'delta', base_url: silent.address, api_keys: [{ key: 'sk-of-films' }] },
      { name: 'silent', protocol: 'alpha', base_url: silent.address, api_keys: [{ key: 'sk-of-silence' }] },
    ],
    models: [
      { name: 'ears', upstream: 'sound', upstream_model_id: 'whisper-1' },
      { name: 'video', upstream: 'films', upstream_model_id: 'wan2.5-t2v' },
      { name: 'gpt-4o', upstream: 'silent', upstream_model_id: 'gpt-4o' },
    ],
    // Less than a reply of that model may cost: its calls go one after the other.
    access_keys: [{ name: 'poor', group: 'everyone', key: poor, budget: { limit: 0.05, period: 'total' } }],
    mcp_servers: [{ name: 'tools', endpoint: tools.url }],
    key_groups: [{ name: 'everyone', models: ['*'], mcp_tool_acl: { allowed_tools: ['*'] } }],
  });
  await until(async () => (await toolNames(gateway)).includes('tools.wait'), 'the tools to be known');
}

const front = () => gateway.processes['edge'] ?? gateway.processes['gateway']!;
const announced = (name: string): unknown => {
  const line = gateway.processes[name]!.logs().findLast((one) => one.includes('"process exits"'));
  return line === undefined ? null : (JSON.parse(line) as { code: number }).code;
};

/** A call that its server never answers. */
async function hang(): Promise<{ status: number; body: unknown }> {
  const before = tools.waiting;
  const answer = postMcp(gateway, { id: 'mine', method: 'tools/call', params: { name: 'tools.wait', arguments: {} } });
  await Promise.race([until(async () => tools.waiting > before, 'the tool to be called'), answer]);
  // Wrapped: the answer itself comes later.
  return answer.then(({ status, body }) => ({ status, body }));
}

/** A form whose file goes on and on; `begun` resolves once some of it was sent. */
function upload(id: string): { begun: Promise<unknown>; answer: Promise<{ status: number; body: unknown }> } {
  const request = httpRequest(`${gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'multipart/form-data; boundary=b', 'z-request-id': id },
  });
  let timer: NodeJS.Timeout | undefined;
  const answer = new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    request.on('response', async (response) => {
      let text = '';
      for await (const part of response) text += part;
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
    });
    request.on('error', reject);
  }).finally(() => {
    clearInterval(timer);
    request.destroy();
  });
  const begun = new Promise((resolve) => request.write(head, resolve));
  timer = setInterval(() => request.write(Buffer.alloc(2000, 's')), 50);
  return { begun, answer };
}

/** What a chat with the silent model is answered. */
async function chat(id: string): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${poor}`, 'content-type': 'application/json', 'z-request-id': id },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] }),
  });
  return { status: answer.status, body: await answer.json() };
}

/** A stream of the first transport of MCP: `post` asks on it, `rest` is all that comes on it until it ends. */
async function openToolStream(): Promise<{ post(message: object): Promise<number>; rest: Promise<string> }> {
  const authorization = `Bearer ${gateway.key}`;
  const stream = await fetch(`${gateway.url}/mcp/sse`, { headers: { authorization, accept: 'text/event-stream' } });
  const parts = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let first = '';
  while (!first.includes('\n\n')) first += (await parts.read()).value ?? '';
  const address = /data: (\S+)/.exec(first)![1]!;
  const rest = (async () => {
    let text = '';
    for (let part = await parts.read(); !part.done; part = await parts.read()) text += part.value;
    return text;
  })();
  const post = async (message: object): Promise<number> => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    return (await fetch(gateway.url + address, { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body })).status;
  };
  return { post, rest };
}

describe.each(arrangements('unfinished at the end of a drain'))('%s: the public process', (arrangement) => {
  beforeAll(() => start(arrangement));
  afterAll(() => gateway.stop());

  test('answers uploads and calls of tools that are under way with 503, and their rows say why', async () => {
    const call = hang();
    const { begun, answer } = upload('unfinished');
    await begun;
    await until(async () => tools.waiting > 0, 'the tool to be called');
    const leaving = front().kill('SIGTERM');
    expect(await answer).toMatchObject({ status: 503, body: { error: draining } });
    expect(await call).toMatchObject({ status: 503, body: { error: { data: draining } } });
    await leaving;
    expect(announced(front().name)).toBe(0);
    await front().restart();
    expect(await gateway.row('unfinished')).toMatchObject({ status: 503, error_code: 'draining' });
    const isCall = ({ kind }: { kind?: string }): boolean => kind === 'mcp_call';
    await until(async () => (await gateway.rows()).some(isCall), 'the row of the call');
  });

  test('answers requests that wait for money with 503, and their rows say why', async () => {
    const called = silent.received.length;
    const paid = chat('paid');
    await until(async () => silent.received.length > called, 'the model to be called');
    const waits = chat('waits');
    const active = async (): Promise<boolean> => /^gateway_requests_active\S* 2$/m.test(await front().metrics());
    await until(active, 'the second request to wait');
    const leaving = front().kill('SIGTERM');
    expect(await Promise.all([paid, waits])).toEqual([
      expect.objectContaining({ status: 503 }),
      { status: 503, body: { error: expect.objectContaining(draining) } },
    ]);
    await leaving;
    expect(silent.received.length).toBe(called + 1);
    await front().restart();
    expect(await gateway.row('waits')).toMatchObject({ status: 503, error_code: 'draining', access_key: 'poor' });
  });
});

(splitAvailable('unfinished at the end of a drain') ? describe : describe.skip)('split: the MCP aggregator', () => {
  beforeAll(() => start('split'));
  afterAll(() => gateway.stop());

  test('answers calls that hang, cancels them at their server, and ends in time', async () => {
    const cancelled = tools.cancelled;
    const call = hang();
    await until(async () => tools.waiting > 0, 'the tool to be called');
    const aggregator = gateway.processes['mcp-aggregator']!;
    await aggregator.kill('SIGTERM');
    expect(await call).toMatchObject({ status: 503, body: { id: 'mine', error: { code: -32_000, data: draining } } });
    expect(announced('mcp-aggregator')).toBe(0);
    expect(tools.cancelled).toBe(cancelled + 1);
    await aggregator.restart();
    await until(async () => (await gateway.rows()).some(({ kind, error_code: code }) => kind === 'mcp_call' && code === 'draining'), 'the row of the call');
  });

  test('answers on a stream of the first transport what was asked on it, before it ends', async () => {
    const { post, rest } = await openToolStream();
    const before = tools.waiting;
    expect(await post({ id: 'mine', method: 'tools/call', params: { name: 'tools.wait', arguments: {} } })).toBe(202);
    await until(async () => tools.waiting > before, 'the tool to be called');
    const aggregator = gateway.processes['mcp-aggregator']!;
    await aggregator.kill('SIGTERM');
    expect(readSse(await rest).at(-1)?.json).toMatchObject({ id: 'mine', error: { code: -32_000, data: draining } });
    expect(announced('mcp-aggregator')).toBe(0);
    await aggregator.restart();
  });
});

(splitAvailable('unfinished at the end of a drain') ? describe : describe.skip)('split: the translator', () => {
  beforeAll(() => start('split'));
  afterAll(() => gateway.stop());

  test('ends in time while an upstream says nothing about a task', async () => {
    const begun = answerJson({ request_id: 'r', output: { task_id: 'theirs', task_status: 'PENDING' } });
    silent.answer = (response, asked) => (asked.method === 'POST' ? begun(response, asked) : undefined);
    const answer = await fetch(`${gateway.url}/v1/services/aigc/video-generation/video-synthesis`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'x-dashscope-async': 'enable' },
      body: JSON.stringify({ model: 'video', input: { prompt: 'a cat' } }),
    });
    expect(answer.status).toBe(200);
    await until(async () => silent.received.some(({ method }) => method === 'GET'), 'the task to be asked about');
    const translator = gateway.processes['translator']!;
    await translator.kill('SIGTERM');
    expect(announced('translator')).toBe(0);
    await translator.restart();
  });
});
