/** Slow, broken and abandoned streams as the official SDKs live through them, with a keep-alive every 50 ms, in both arrangements. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream, type UpstreamRequest } from '../fake-upstream/index.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { modelOf, scriptedModels } from '../support/scripted-models.ts';
import { type AskedTool, clientProtocols, startChat, type UpstreamProtocol, upstreamProtocols } from '../support/sdk-callers.ts';
import { openaiClient } from '../support/sdks/chat-completions.ts';
import { anthropicClient } from '../support/sdks/messages.ts';

const tool: AskedTool = {
  name: 'delete_files',
  description: 'Deletes files',
  parameters: { type: 'object', properties: { pattern: { type: 'string' } }, required: ['pattern'] },
};
const longArguments = JSON.stringify({ pattern: `${'scratch/'.repeat(100)}*` });
/** What a busy machine may add to a time that is promised; without the promise these would never be closed. */
const busyMs = 5000;
const slowText = 'text:3+slow:130';
const slowCall = `ok:${longArguments}+slow:130`;
const wholeCall = `ok:${longArguments}`;
const scripts = [wholeCall, slowText, slowCall, 'pump+slow:20', 'hang', 'cut@2500', 'eof@2500', 'midstream-error'];
const pairs = clientProtocols.flatMap((client) => upstreamProtocols.map((upstream) => ({ client, upstream })));

/** Protocols that send a call's arguments in fragments; in the other a call is one event, which comes whole or not at all. */
const fragmenting = ['alpha', 'alpha_response', 'beta'] as const;
const plainAsks: Record<(typeof fragmenting)[number], { path: string; body: object; fragment: string }> = {
  alpha: {
    path: '/v1/chat/completions',
    body: { messages: [{ role: 'user', content: 'hi' }], tools: [{ type: 'function', function: { name: tool.name } }] },
    fragment: '"tool_calls":[',
  },
  alpha_response: { path: '/v1/responses', body: { input: 'hi', tools: [{ type: 'function', name: tool.name }] }, fragment: '_arguments.delta"' },
  beta: {
    path: '/v1/messages',
    body: { max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], tools: [{ name: tool.name, input_schema: { type: 'object' } }] },
    fragment: '"partial_json":',
  },
};

/** A byte of the upstream's stream inside the event of the last fragment of the arguments, found by asking the upstream itself. */
async function byteInsideCall(url: string, upstream: (typeof fragmenting)[number]): Promise<number> {
  const { path, body, fragment } = plainAsks[upstream];
  const reply = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ ...body, model: `ok:${longArguments}`, stream: true }),
  });
  const text = await reply.text();
  expect(text.split(fragment).length).toBeGreaterThan(2);
  return text.lastIndexOf(fragment);
}

describe.each(arrangements('sdk-faults'))('streams on a %s gateway', (arrangement) => {
  let fake: FakeUpstream;
  let gateway: TestGateway;
  /** Scripts that break inside the arguments of a call. */
  const cutCall: Partial<Record<UpstreamProtocol, string>> = {};
  beforeAll(async () => {
    fake = await startFakeUpstream();
    gateway = await startGateway({ arrangement, env: { STREAMING_KEEPALIVE_SECONDS: '0.05' } });
    for (const upstream of fragmenting) cutCall[upstream] = `ok:${longArguments}+cut@${await byteInsideCall(fake.url, upstream)}`;
    await gateway.configure(scriptedModels(fake.url, (protocol) => [...scripts, ...(cutCall[protocol] === undefined ? [] : [cutCall[protocol]])]));
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });
  beforeEach(() => {
    fake.requests.length = 0;
  });

  const received = async (): Promise<UpstreamRequest> => {
    await until(async () => fake.requests.length > 0, 'the upstream to be asked');
    return fake.requests[0]!;
  };

  test('keep-alives do come between the events of a slow stream', async () => {
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: modelOf('alpha', slowText), stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    });
    const text = await reply.text();
    expect(text.match(/^:keep-alive$/gm)?.length).toBeGreaterThan(3);
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
  });

  test.each(clientProtocols)('keep-alives disturb no SDK: %s', async (client) => {
    const asks = clientProtocols.flatMap((upstream) => [
      startChat(client, gateway, modelOf(upstream, slowText), { text: 'hi' }).send({ stream: true }),
      startChat(client, gateway, modelOf(upstream, slowCall), { text: 'hi', tools: [tool] }).send({ stream: true }),
    ]);
    for (const [at, said] of (await Promise.all(asks)).entries()) {
      if (at % 2 === 0) expect(said).toMatchObject({ text: 'word0 word1 word2 ', stop: 'stop', calls: [] });
      else expect(said).toMatchObject({ calls: [{ name: 'delete_files', args: JSON.parse(longArguments) }], stop: 'tools' });
    }
  });

  test.each(pairs)('an abort reaches the upstream within a second: $client ← $upstream', async ({ client, upstream }) => {
    const leave = new AbortController();
    let left = 0;
    const sent = startChat(client, gateway, modelOf(upstream, 'pump+slow:20'), { text: 'hi' }).send({
      stream: true,
      signal: leave.signal,
      onFirst: () => {
        left = performance.now();
        leave.abort();
      },
    });
    await expect(sent).rejects.toThrow();
    const { whenClosed } = await received();
    await whenClosed;
    expect((await received()).closed).toMatchObject({ reason: 'left' });
    expect((await received()).closed!.at - left).toBeLessThan(1000 + busyMs);
  });

  test.each(clientProtocols)('an abort before any reply reaches the upstream within a second: %s', async (client) => {
    for (const stream of [true, false]) {
      fake.requests.length = 0;
      const leave = new AbortController();
      const sent = startChat(client, gateway, modelOf('beta', 'hang'), { text: 'hi' }).send({ stream, signal: leave.signal });
      const asked = await received();
      const left = performance.now();
      leave.abort();
      await expect(sent).rejects.toThrow();
      await asked.whenClosed;
      expect(asked.closed!.at - left).toBeLessThan(1000 + busyMs);
    }
  });

  const breaks = pairs.flatMap((pair) => ['cut@2500', 'eof@2500', 'midstream-error'].map((script) => ({ ...pair, script })));
  test.each(breaks)('a break ends the stream in good order: $client ← $upstream $script', async ({ client, upstream, script }) => {
    const said = await startChat(client, gateway, modelOf(upstream, script), { text: 'hi' }).send({ stream: true });
    expect(said.text.length).toBeGreaterThan(0);
    expect(
      Array.from({ length: 20 }, (_, i) => `word${i} `)
        .join('')
        .startsWith(said.text),
    ).toBe(true);
    expect(said.stop).toBe('length');
    expect(said.calls).toEqual([]);
  });

  /** Both SDKs' own loops: what the model says last, and how often the tool ran. */
  const loops = {
    async alpha(model: string) {
      let [runs, chunks] = [0, 0];
      const run = () => `done ${++runs}`;
      const runner = openaiClient(gateway).chat.completions.runTools({
        model,
        stream: true,
        messages: [{ role: 'user', content: 'hi' }],
        tools: [{ type: 'function', function: { ...tool, parse: JSON.parse, function: run } }],
      });
      runner.on('chunk', () => chunks++);
      // On a reply of length type the SDK itself raises: then there is no final text.
      const text = await runner.finalContent().catch(() => null);
      expect(chunks).toBeGreaterThan(0);
      return { runs, text };
    },
    async beta(model: string) {
      let runs = 0;
      const run = () => `done ${++runs}`;
      const runner = anthropicClient(gateway).beta.messages.toolRunner({
        model,
        max_tokens: 1000,
        stream: true,
        messages: [{ role: 'user', content: 'hi' }],
        tools: [
          {
            name: tool.name,
            description: tool.description,
            input_schema: tool.parameters as { type: 'object' },
            parse: (input: unknown) => input,
            run,
          },
        ],
      });
      let last: Awaited<ReturnType<typeof runner.done>> | undefined;
      for await (const stream of runner) last = await stream.finalMessage();
      const text = last?.stop_reason === 'max_tokens' ? null : (last?.content.map((block) => (block.type === 'text' ? block.text : '')).join('') ?? '');
      return { runs, text };
    },
  };

  test.each(clientProtocols)("the SDKs' own tool loops run a complete call of %s", async (upstream) => {
    for (const loop of [loops.alpha, loops.beta]) {
      const { runs, text } = await loop(modelOf(upstream, wholeCall));
      expect(runs).toBe(1);
      expect(text).toContain('done 1');
    }
  });

  test.each(fragmenting)("the SDKs' own tool loops never run a truncated call of %s", async (upstream) => {
    for (const loop of [loops.alpha, loops.beta]) {
      fake.requests.length = 0;
      expect(await loop(modelOf(upstream, cutCall[upstream]!))).toEqual({ runs: 0, text: null });
      expect(fake.requests.length).toBe(1);
    }
  });

  test.each(fragmenting)('responses and generate content: a truncated call of %s is not complete', async (upstream) => {
    const events: string[] = [];
    const stream = await openaiClient(gateway).responses.create({
      model: modelOf(upstream, cutCall[upstream]!),
      input: 'hi',
      stream: true,
      tools: [{ type: 'function', strict: false, ...tool }],
    });
    for await (const event of stream) {
      events.push(event.type);
      if (event.type === 'response.output_item.done' && event.item.type === 'function_call') expect(event.item.status).toBe('incomplete');
      if (event.type === 'response.incomplete') {
        expect(event.response.incomplete_details?.reason).toBe('max_output_tokens');
        for (const item of event.response.output) if (item.type === 'function_call') expect(item.status).toBe('incomplete');
      }
    }
    expect(events.at(-1)).toBe('response.incomplete');
    const said = await startChat('gamma', gateway, modelOf(upstream, cutCall[upstream]!), { text: 'hi', tools: [tool] }).send({ stream: true });
    expect(said).toMatchObject({ stop: 'length', calls: [] });
  });
});
