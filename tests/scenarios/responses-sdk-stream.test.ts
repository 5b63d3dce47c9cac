/** The official SDK's strict reader of Responses streams takes replies that are stored turns: written, passed verbatim, and ended after a break. */
import { describe, expect, test } from '@jest/globals';
import { noUsage } from '@model-gateway/contracts';
import { type ChatEvent, findProtocol, type ReplyTurn } from '@model-gateway/protocols';
import { ResponseStream } from 'openai/lib/responses/ResponseStream';

const client = findProtocol('alpha_response')?.client;
if (!client?.turns) throw new Error('the protocol has stored turns');
const { createWriter, createTerminator, turns } = client;

const turn: ReplyTurn = { id: 'resp_stored', previous: 'resp_before', conversation: null, store: true, background: false };
let minted = 0;
const context = {
  requestId: 'request',
  model: 'm',
  createdAt: 1_700_000_000,
  streamForm: 'sse',
  mintId: (prefix: string) => `${prefix}${++minted}`,
} as const;
const events: ChatEvent[] = [
  { type: 'start' },
  { type: 'block-start', index: 0, block: { type: 'thinking' } },
  { type: 'thinking-delta', index: 0, text: 'Hm.' },
  { type: 'signature', index: 0, signature: 'proof' },
  { type: 'block-end', index: 0 },
  { type: 'block-start', index: 1, block: { type: 'text' } },
  { type: 'text-delta', index: 1, text: 'Let me ' },
  { type: 'text-delta', index: 1, text: 'look.' },
  { type: 'block-end', index: 1 },
  { type: 'block-start', index: 2, block: { type: 'tool-call', id: 'call_1', name: 'weather' } },
  { type: 'arguments-delta', index: 2, text: '{"city":' },
  { type: 'arguments-delta', index: 2, text: '"Paris"}' },
  { type: 'block-end', index: 2 },
  { type: 'usage', usage: { ...noUsage, input: 3, output: 2 } },
  { type: 'finish', reason: 'tool-calls' },
  { type: 'end' },
];
const written = (of: ReplyTurn): string => {
  const writer = createWriter({ ...context, sealSignature: (signature) => signature, inputEstimate: 1, now: () => 1_700_000_002, turn: of });
  return events.map((event) => writer.write(event)).join('');
};
const dataOf = (text: string): string[] => [...text.matchAll(/^data: (.*)$/gm)].map((match) => match[1] ?? '');

/** Its last response; throws where the reader finds a fault. */
function read(text: string) {
  const lines = dataOf(text).map((data) => `${data}\n`);
  const bytes = new ReadableStream({
    start(controller) {
      for (const line of lines) controller.enqueue(new TextEncoder().encode(line));
      controller.close();
    },
  });
  return ResponseStream.fromReadableStream(bytes).finalResponse();
}

describe.each([
  ['after another', turn],
  ['in a conversation', { ...turn, previous: null, conversation: 'conv_1' }],
  ['in the background', { ...turn, previous: null, background: true }],
])('a turn %s', (_where, of) => {
  test('is read to its end, and is what is stored', async () => {
    const text = written(of);
    const response = await read(text);
    expect(response).toMatchObject({ id: 'resp_stored', status: 'completed', output_text: 'Let me look.', store: true, previous_response_id: of.previous });
    const observer = turns.createObserver(of, { form: 'sse', model: 'm', createdAt: context.createdAt, body: {} });
    observer.written(text);
    const { output_text: _text, output_parsed: _parsed, output, ...said } = response;
    const stored = observer.ended()?.response as typeof response;
    expect(stored).toMatchObject(said);
    expect(stored.output.map(({ id }) => id)).toEqual(output.map(({ id }) => id));
  });

  test('is read to its end after a break at any event', async () => {
    const text = written(of);
    for (const { index } of text.matchAll(/\n\n/g)) {
      const prefix = text.slice(0, index + 2);
      const terminator = createTerminator({ ...context, turn: of });
      terminator.observe(Buffer.from(prefix));
      const ending = terminator.close({ reason: 'upstream_broken', detail: 'It broke.', timestamp: '2026-01-01T00:00:00.000Z' });
      if (ending !== '') expect(await read(prefix + ending)).toMatchObject({ id: 'resp_stored', status: 'incomplete', store: true });
    }
  });
});
