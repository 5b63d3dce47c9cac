/**
 * Generate-content streams as Google's own readers take them apart. Version 1.30 of the JavaScript SDK, which Gemini CLI bundles, reads events with a
 * regular expression: a comment between two events, or a raw line separator in a text, and it finds no further event.
 */
import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GoogleGenAI as GoogleGenAI130 } from 'genai-1-30';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { modelOf, scriptedModels } from '../support/scripted-models.ts';
import { clientProtocols } from '../support/sdk-callers.ts';

const odd = 'one\u2028two\u2029three';
/** Longer than a busy machine puts off a keep-alive. */
const slowText = 'text:3+slow:600';
const slowCall = `ok:${JSON.stringify({ path: odd })}+slow:60`;

let fake: FakeUpstream;
let gateway: InProcessGateway;
/** What the callers got, byte for byte, by the address that they asked. */
const bytes = new Map<string, string>();
const bytesOf = (model: string): string => [...bytes].find(([url]) => decodeURIComponent(url).includes(`/${model}:`))?.[1] ?? '';
beforeAll(async () => {
  fake = await startFakeUpstream({
    play: (body) => (JSON.stringify(body).includes('a result') ? { text: 'It is done.' } : { text: 'Let me look at it.', call: 'look', args: {} }),
  });
  const { upstreams = [], models = [] } = scriptedModels(fake.url, () => [slowText, slowCall, 'ok', 'play']);
  gateway = await startInProcess({ upstreams, models, edge: { keepAliveMs: 50 } });
});
afterAll(async () => {
  await gateway?.stop();
  await fake?.close();
});

const plainFetch = globalThis.fetch;
/** What is read is written down as well. */
const noting: typeof fetch = async (...asked) => {
  const reply = await plainFetch(...asked);
  const url = asked[0] instanceof Request ? asked[0].url : String(asked[0]);
  const { body } = reply;
  if (!body) return reply;
  const decoder = new TextDecoder();
  const noted = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes.set(url, (bytes.get(url) ?? '') + decoder.decode(chunk, { stream: true }));
        controller.enqueue(chunk);
      },
    }),
  );
  return new Response(noted, { status: reply.status, headers: reply.headers });
};

// biome-ignore lint/suspicious/noExplicitAny: the same few fields of two versions' types.
type Chunk = any;

interface Ask {
  model: string;
  contents: string;
  config?: { tools: { functionDeclarations: { name: string; parametersJsonSchema: unknown }[] }[] };
}

const look = { tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: { type: 'object', properties: { path: { type: 'string' } } } }] }] };

async function collect(chunks: AsyncIterable<Chunk>): Promise<Chunk[]> {
  const all: Chunk[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

// biome-ignore lint/suspicious/noExplicitAny: the same few methods of two versions' types.
const clients: Record<string, () => any> = {
  // It knows no `fetch` of one's own: it takes the global one.
  '1.30': () => new GoogleGenAI130({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } }),
  current: () => new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url, fetch: noting } }),
};

const partsOf = (chunks: Chunk[]): Chunk[] => chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
const textOf = (chunks: Chunk[]): string =>
  partsOf(chunks)
    .map((part) => part.text ?? '')
    .join('');

describe.each(Object.keys(clients))('@google/genai %s', (version) => {
  const read = async (ask: Ask): Promise<Chunk[]> => collect(await clients[version]!().models.generateContentStream(ask));
  beforeAll(() => {
    bytes.clear();
    if (version === '1.30') globalThis.fetch = noting;
  });
  afterAll(() => {
    globalThis.fetch = plainFetch;
  });

  /** All four upstreams are read at once, by whichever test comes first: each takes seconds, and hardly any work. */
  let reading: Map<string, Promise<Chunk[]>> | undefined;
  const readSlowly = (upstream: (typeof clientProtocols)[number]): Promise<Chunk[]> => {
    reading ??= new Map(clientProtocols.map((one) => [one, read({ model: modelOf(one, slowText), contents: 'hi' })]));
    return reading.get(upstream)!;
  };

  test.each(clientProtocols)('reads a stream with keep-alives in it whole: %s upstream', async (upstream) => {
    const chunks = await readSlowly(upstream);
    expect(textOf(chunks)).toBe('word0 word1 word2 ');
    expect(chunks.at(-1).candidates[0].finishReason).toBe('STOP');
    // There were some: else this shows nothing.
    expect(bytesOf(modelOf(upstream, slowText))).toMatch(/\}\r?\n\r?\n(?:\n|:keep-alive)/);
  });

  test.each(clientProtocols)('reads line separators in arguments, with keep-alives before them: %s upstream', async (upstream) => {
    const chunks = await read({ model: modelOf(upstream, slowCall), contents: 'hi', config: look });
    expect(partsOf(chunks).flatMap((part) => part.functionCall ?? [])).toMatchObject([{ name: 'look', args: { path: odd } }]);
  });

  // A chat keeps each chunk of a reply as a content of its own.
  test.each(clientProtocols)('goes on with a chat in which a call came after a text: %s upstream', async (upstream) => {
    const client = clients[version]!();
    const chat = client.chats.create({ model: modelOf(upstream, 'play'), config: look });
    const calls = partsOf(await collect(await chat.sendMessageStream({ message: 'go' }))).flatMap((part) => part.functionCall ?? []);
    const message = calls.map(({ id, name }) => ({ functionResponse: { id, name, response: { output: 'a result' } } }));
    expect(textOf(await collect(await chat.sendMessageStream({ message })))).toBe('It is done.');
    expect(chat.getHistory().filter(({ role }: { role: string }) => role === 'model').length).toBeGreaterThan(2);
  });

  test.each(clientProtocols)('reads line separators in a text: %s upstream', async (upstream) => {
    expect(textOf(await read({ model: modelOf(upstream, 'ok'), contents: odd }))).toBe(odd);
  });
});
