/**
 * Clients that people use hold a turn with a tool's call through the gateway, against a recorded session: `@openai/agents-realtime`, and OpenAI's SDK for
 * Python where an interpreter has it (`python3`, or the one that `SDK_PYTHON` names).
 */
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime';
import { z } from 'zod';
import { haveFixtures } from '../fake-upstream/fixtures.ts';
import { type FakeRealtime, startFakeRealtime } from '../fake-upstream/index.ts';
import { arrangements, borrowGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/in-process.ts';

const python = process.env['SDK_PYTHON'] ?? process.env['DASHSCOPE_PYTHON'] ?? 'python3';
const hasPython = spawnSync(python, ['-c', 'import openai, websockets'], { stdio: 'ignore' }).status === 0;
if (!hasPython)
  process.stderr.write(
    `NOT RUN: realtime sessions of OpenAI's SDK for Python. ${python} has no package openai[realtime] (pip install 'openai[realtime]', or SDK_PYTHON=<interpreter that has it>).\n`,
  );
const script = join(import.meta.dirname, '../support/sdks/openai_realtime.py');

(haveFixtures() ? describe : describe.skip).each(arrangements('realtime-sdks'))('clients of realtime sessions at a %s gateway', (arrangement) => {
  let fake: FakeRealtime;
  let gateway: TestGateway;
  beforeAll(async () => {
    fake = await startFakeRealtime();
    gateway = await borrowGateway({ arrangement });
    await gateway.configure({
      upstreams: [{ name: 'up', protocol: 'alpha_realtime', base_url: fake.url, api_keys: [{ key: 'sk-fake-upstream' }] }],
      models: [{ name: 'weather', upstream: 'up', upstream_model_id: 'turns/tool-round-text-out' }],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });
  beforeEach(() => {
    fake.sessions.length = 0;
  });

  const rowsOf = (userAgentOrKey: (row: { access_key: string | null }) => boolean, count: number) =>
    until(async () => {
      const found = (await gateway.rows()).filter((row) => row.kind === 'realtime_turn' && userAgentOrKey(row));
      return found.length >= count && found;
    }, `${count} rows`);

  (hasPython ? test : test.skip)("OpenAI's SDK for Python", async () => {
    const { stdout } = await promisify(execFile)(python, [script, gateway.url, gateway.key, 'weather'], { timeout: 100_000 });
    const seen = JSON.parse(stdout);
    expect(seen).toMatchObject({ text: 'It is foggy and 12 degrees in London.', total_tokens: expect.any(Number) });
    expect(JSON.parse(seen.arguments)).toEqual({ city: 'London' });
    expect(seen.types.slice(0, 2)).toEqual(['session.created', 'session.updated']);
    expect(fake.sessions[0]).toMatchObject({ refused: [], path: '/v1/realtime?model=turns%2Ftool-round-text-out', key: 'sk-fake-upstream' });
    expect(await rowsOf(() => true, 2)).toHaveLength(2);
  });

  test.each(['an access key', 'a short-lived key'])('RealtimeSession of @openai/agents-realtime, with %s', async (how) => {
    const asked: string[] = [];
    const weather = tool({
      name: 'get_weather',
      description: 'The weather in a city.',
      parameters: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        asked.push(city);
        return 'Foggy, 12 degrees.';
      },
    });
    const agent = new RealtimeAgent({ name: 'clerk', instructions: 'Use the tool.', tools: [weather] });
    const transport = new OpenAIRealtimeWebSocket({ url: `${gateway.url.replace('http', 'ws')}/v1/realtime?model=weather` });
    const session = new RealtimeSession(agent, { transport, model: 'weather' });
    const events: { type: string; delta?: string }[] = [];
    const errors: unknown[] = [];
    session.on('transport_event', (event) => events.push(event));
    session.on('error', (error) => errors.push(error));
    await session.connect({ apiKey: how === 'an access key' ? gateway.key : await mint() });
    session.sendMessage('What is the weather in London?');
    await until(() => events.filter(({ type }) => type === 'response.done').length === 2, 'both responses');
    expect(asked).toEqual(['London']);
    expect(events.flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [delta] : [])).join('')).toBe('It is foggy and 12 degrees in London.');
    expect([errors, fake.sessions[0]?.refused]).toEqual([[], []]);
    session.close();
    await until(() => fake.sessions[0]?.closed, 'the upstream to be left');
  });

  async function mint(): Promise<string> {
    const reply = await fetch(`${gateway.url}/v1/realtime/client_secrets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ session: { type: 'realtime', model: 'weather' } }),
    });
    return ((await reply.json()) as { value: string }).value;
  }
});
