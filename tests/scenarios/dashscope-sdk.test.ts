/**
 * The DashScope SDK, which exists for Python: through the gateway it reads what it reads of the vendor itself. Only where an interpreter has the package:
 * `python3`, or the one that `DASHSCOPE_PYTHON` or `SDK_PYTHON` names.
 */
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AnsweringServer, answerJson, type Received } from '../support/answering-server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const python = process.env['DASHSCOPE_PYTHON'] ?? process.env['SDK_PYTHON'] ?? 'python3';
const available = spawnSync(python, ['-c', 'import dashscope'], { stdio: 'ignore' }).status === 0;
if (!available)
  process.stderr.write(
    `NOT RUN: the DashScope SDK. ${python} has no package dashscope (pip install dashscope, or DASHSCOPE_PYTHON=<interpreter that has it>).\n`,
  );

const script = join(import.meta.dirname, '../support/sdks/dashscope_calls.py');
const server = new AnsweringServer();
let gateway: TestGateway | undefined;
let looks = 0;

const message = (content: string, finish = 'stop') => ({ choices: [{ finish_reason: finish, message: { role: 'assistant', content } }] });
const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };

function answerOf({ path, body }: Received): { status?: number; body: object } {
  if (path.includes('/tasks/')) {
    looks += 1;
    const output = { task_id: 'up-1', task_status: looks % 2 === 1 ? 'RUNNING' : 'SUCCEEDED', results: [{ url: 'https://files.example/1.png' }] };
    return { body: { output, usage: { image_count: 1 } } };
  }
  const text = body.toString();
  if (text.includes('"refused"')) return { status: 400, body: { code: 'InvalidParameter', message: 'The input is refused.' } };
  if (path.endsWith('/text-embedding')) return { body: { output: { embeddings: [{ text_index: 0, embedding: [0.5, -0.25] }] }, usage: { total_tokens: 7 } } };
  if (path.endsWith('/text-rerank')) return { body: { output: { results: [{ index: 1, relevance_score: 0.75 }] }, usage: { total_tokens: 9 } } };
  if (path.endsWith('/image-synthesis')) return { body: { output: { task_id: 'up-1', task_status: 'PENDING' } } };
  const audio = { url: 'https://files.example/1.wav', data: '', id: 'a', expires_at: 1 };
  if (text.includes('qwen3-tts')) return { body: { output: { audio, finish_reason: 'stop' }, usage: { characters: 5 } } };
  return { body: { output: message('Guten Tag.'), usage } };
}

beforeAll(async () => {
  if (!available) return;
  await server.start();
  server.answer = (response, asked) => {
    const { status = 200, body } = answerOf(asked);
    if (asked.headers['x-dashscope-sse'] !== 'enable') return answerJson({ request_id: 'r', ...body }, status)(response, asked);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const events = [message('Guten', 'null'), message(' Tag.')].map((output) => ({ request_id: 'r', output, usage }));
    response.end(events.map((event, at) => `id:${at + 1}\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify(event)}\n\n`).join(''));
  };
  gateway = await startGateway({ arrangement: 'embedded' });
  const named = (name: string, kind?: string) => ({ name, upstream: 'vendor', upstream_model_id: name, ...(kind && { kind }) });
  await gateway.configure({
    upstreams: [{ name: 'vendor', protocol: 'delta', base_url: server.address, api_keys: [{ key: 'sk-vendor' }] }],
    models: [
      named('qwen-plus'),
      named('text-embedding-v4', 'delta-text-embedding'),
      named('gte-rerank-v2', 'delta-rerank'),
      named('qwen3-tts-flash', 'delta-multimodal'),
      named('wanx-v1'),
    ],
  });
});
afterAll(async () => {
  await gateway?.stop();
  server.stop();
});

/** What each call gave, but for the task's id: it is the gateway's own. */
async function callAll(base: string, key: string): Promise<Record<string, unknown>> {
  const { stdout } = await promisify(execFile)(python, [script, base, key], { timeout: 120_000 });
  return JSON.parse(stdout.replaceAll(/"task_id": "[^"]*"/g, '"task_id": "a-task"')) as Record<string, unknown>;
}

(available ? test : test.skip)('every call reads as it does without the gateway', async () => {
  const direct = await callAll(`${server.address}/api/v1`, 'sk-vendor');
  expect(direct).toMatchObject({
    embedding: { status: 200 },
    refused: { status: 400, code: 'InvalidParameter' },
    image: { status: 200, same_task: true },
    streamed: [{ status: 200 }, { status: 200 }],
  });
  const asked = server.received.length;
  for (const base of ['/v1', '/api/v1']) expect(await callAll(`${gateway!.url}${base}`, gateway!.key)).toEqual(direct);
  // The upstream's key and no other.
  expect(new Set(server.received.slice(asked).map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer sk-vendor']));
});
