/** The playground's dialects against the protocols themselves: what it sends is read whole, what it receives is shown whole. */
import { describe, expect, test } from '@jest/globals';
import { createSseParser } from '@model-gateway/stream-framing';
import { chatClients, foldEvents, type Message } from '../../src/index.ts';
import { type PlaygroundPiece, type PlaygroundRequest, playgroundDialects } from '../../src/playground/index.ts';
import { echoOf, replyContext, speakers, writePieces } from './harness.ts';
import { replyScenarios } from './scenarios.ts';

const request: PlaygroundRequest = {
  model: 'smart/one?',
  system: 'Be brief.',
  turns: [
    { role: 'user', text: 'What is this?', images: [{ mediaType: 'image/png', base64: 'AAAA' }] },
    { role: 'assistant', text: 'A picture.', images: [] },
    { role: 'user', text: 'And the weather?', images: [] },
  ],
  tools: [{ name: 'get_weather', description: 'The weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } }],
  maxTokens: 512,
  temperature: 0.5,
  stream: true,
};

/** No arguments and empty ones mean the same. */
const bare = (call: string): string => call.replaceAll(/\s/g, '').replace(/\{\}$/, '');

/** What a reader sees of pieces, and of the events they were made from. */
function shown(pieces: readonly PlaygroundPiece[]) {
  const said = { text: '', thinking: '', tools: [] as string[] };
  const tools = new Map<string, string>();
  for (const piece of pieces) {
    if (piece.kind === 'text' || piece.kind === 'thinking') said[piece.kind] += piece.text;
    if (piece.kind === 'tool') tools.set(piece.id, (tools.get(piece.id) ?? '') + (piece.name ?? '') + piece.arguments);
  }
  return { ...said, tools: [...tools.values()].map((call) => bare(call)) };
}

const meant = ({ blocks }: Message) => ({
  text: blocks.map((block) => (block.start.type === 'text' || block.start.type === 'refusal' ? block.text : '')).join(''),
  thinking: blocks.map((block) => (block.start.type === 'thinking' ? block.text : '')).join(''),
  tools: blocks.flatMap((block) => (block.start.type === 'tool-call' ? [bare(block.start.name + block.text)] : [])),
});

describe.each(playgroundDialects.map((dialect) => [dialect.id, dialect] as const))('%s', (id, dialect) => {
  const speaker = speakers.find((protocol) => protocol.id === id)!;

  test('it reads back the words that it sends, and what strangers send does not hurt', () => {
    const { system, turns, maxTokens, temperature } = dialect.readRequest(JSON.parse(JSON.stringify(dialect.body(request))));
    expect({ system, maxTokens, temperature }).toEqual({ system: request.system, maxTokens: request.maxTokens, temperature: request.temperature });
    expect(turns).toEqual(request.turns.map((turn) => ({ ...turn, images: [] })));
    const nothing = { system: '', turns: [], maxTokens: null, temperature: null };
    for (const body of [null, 7, 'text', [], {}, { messages: 1, input: {}, contents: [null, { parts: 'x'.length }] }])
      expect(dialect.readRequest(body)).toEqual(nothing);
  });

  test('what it sends is understood whole', () => {
    const path = dialect.path(request);
    const [where = ''] = path.split('?');
    const { client } = chatClients.find((protocol) => protocol.id === id)!;
    const { conversation, losses } = client.readRequest(dialect.body(request), {
      path: where,
      operation: 'generate',
      model: request.model,
      streamForm: 'sse',
      headers: {},
    });
    expect(losses).toEqual([]);
    const parts = conversation.turns.flatMap((turn) => turn.parts);
    expect(parts.filter((part) => part.type === 'text').map((part) => part.text)).toEqual(['What is this?', 'A picture.', 'And the weather?']);
    expect(parts.some((part) => part.type === 'media')).toBe(true);
    expect(JSON.stringify(conversation.system)).toContain('Be brief.');
    expect(conversation.tools.map(({ name }) => name)).toEqual(['get_weather']);
    expect(conversation.sampling).toMatchObject({ maxTokens: 512, temperature: 0.5 });
  });

  test.each(replyScenarios.map((scenario) => [scenario.name, scenario] as const))('shows the reply "%s", streamed and whole', (_name, { events }) => {
    const parser = createSseParser({ maxEventBytes: 1 << 20 });
    const records = [...parser.push(Buffer.from(writePieces(speaker, events).join(''))), ...parser.finish()];
    const streamed = records.filter(({ data }) => data !== '[DONE]').flatMap(({ data }) => dialect.readEvent(JSON.parse(data)));
    const message = foldEvents(events);
    const expected = meant(message);
    expect(shown(streamed)).toEqual(expected);
    expect(streamed.some(({ kind }) => kind === 'finish')).toBe(true);
    const { body } = speaker.client.writeWhole(message, { ...replyContext(echoOf(speaker)), streamForm: 'whole' });
    expect(shown(dialect.readWhole(JSON.parse(JSON.stringify(body))))).toEqual(expected);
  });

  test('nonsense gives nothing and breaks nothing', () => {
    for (const value of [
      null,
      1,
      'x',
      [],
      {},
      { type: '__proto__' },
      { type: 'constructor' },
      { choices: [null] },
      { candidates: [{ content: { parts: [null, 1] } }] },
      { output: [null], content: [null] },
    ]) {
      expect(dialect.readEvent(value)).toEqual([]);
      expect(dialect.readWhole(value)).toEqual([]);
    }
  });
});
