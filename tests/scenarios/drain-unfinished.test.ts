/** What is still unfinished when a drain is over, and is no reply yet: uploads that are under way, and calls of tools that hang. Each is answered. */
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ToolServer } from '../fake-mcp/tool-server.ts';
import { AnsweringServer, answerJson } from '../support/answering-server.ts';
import { type Arrangement, arrangements, splitAvailable, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { postMcp, toolNames } from '../support/mcp-posts.ts';

const draining = { code: 'draining' };
const head = '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nears\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n';
const server = new AnsweringServer();
const tools = new ToolServer('modern');
let gateway: TestGateway;

beforeAll(async () => {
  server.answer = answerJson({ text: 'x' });
  await Promise.all([server.start(), tools.start()]);
});
afterAll(() => {
  server.stop();
  tools.stop();
});

async function start(arrangement: Arrangement): Promise<void> {
  gateway = await startGateway({ arrangement, mcp: true, toml: { server: { drain_seconds: 2 } } });
  await gateway.configure({
    upstreams: [{ name: 'sound', protocol: 'alpha_audio', base_url: server.address, api_keys: [{ key: 'sk-of-sound' }] }],
    models: [{ name: 'ears', upstream: 'sound', upstream_model_id: 'whisper-1' }],
    mcp_servers: [{ name: 'tools', endpoint: tools.url }],
    key_groups: [{ name: 'everyone', models: ['*'], mcp_tool_acl: { allowed_tools: ['*'] } }],
  });
  await until(async () => (await toolNames(gateway)).includes('tools.wait'), 'the tools to be known');
}

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

describe.each(arrangements('unfinished at the end of a drain'))('%s: the public process', (arrangement) => {
  beforeAll(() => start(arrangement));
  afterAll(() => gateway.stop());

  test('answers uploads and calls of tools that are under way with 503, and their rows say why', async () => {
    const call = hang();
    const { begun, answer } = upload('unfinished');
    await begun;
    await until(async () => tools.waiting > 0, 'the tool to be called');
    const front = gateway.processes['edge'] ?? gateway.processes['gateway']!;
    const leaving = front.kill('SIGTERM');
    expect(await answer).toMatchObject({ status: 503, body: { error: draining } });
    expect(await call).toMatchObject({ status: 503, body: { error: { data: draining } } });
    await leaving;
    expect(announced(front.name)).toBe(0);
    await front.restart();
    expect(await gateway.row('unfinished')).toMatchObject({ status: 503, error_code: 'draining' });
    const isCall = ({ kind }: { kind?: string }): boolean => kind === 'mcp_call';
    await until(async () => (await gateway.rows()).some(isCall), 'the row of the call');
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
});
