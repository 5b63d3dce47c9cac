/** Plays an upstream of the native DashScope wire: the message format, with whole texts or pieces. */
import { type Block, type ChatEvent, type Conversation, findProtocol, foldEvents, type Message } from '../../src/index.ts';
import type { UpstreamPlayer } from './player.ts';

const finishes: Record<string, string> = { length: 'length', 'tool-calls': 'tool_calls', 'content-filter': 'content_filter', refusal: 'refusal' };

function usageOf({ usage }: Message): unknown {
  return {
    input_tokens: usage.input + usage.cacheRead,
    output_tokens: usage.output + usage.reasoning,
    total_tokens: usage.input + usage.cacheRead + usage.output + usage.reasoning,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

const join = (blocks: readonly Block[], ...kinds: string[]): string =>
  blocks.flatMap((block) => (kinds.includes(block.start.type) ? [block.text] : [])).join('');

function messageOf(blocks: readonly Block[]): Record<string, unknown> {
  const calls = blocks.flatMap(({ start, text }) => (start.type === 'tool-call' ? [{ start, text }] : []));
  return {
    role: 'assistant',
    content: join(blocks, 'text', 'refusal'),
    reasoning_content: join(blocks, 'thinking'),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ start, text }, index) => ({ index, id: start.id, type: 'function', function: { name: start.name, arguments: text } })),
    }),
  };
}

let id = 0;
const event = (message: unknown, finish: string, usage: unknown): string =>
  `id:${++id}\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify({ output: { choices: [{ message, finish_reason: finish }] }, usage, request_id: 'r-1' })}\n\n`;

/** What one canonical event adds, as the delta of a message. */
function fragment(each: ChatEvent, calls: Map<number, number>): Record<string, unknown> | null {
  const call = (index: number, more: object): Record<string, unknown> => ({ tool_calls: [{ index: calls.get(index), type: 'function', ...more }] });
  if (each.type === 'text-delta' || each.type === 'refusal-delta') return { content: each.text };
  if (each.type === 'thinking-delta') return { reasoning_content: each.text };
  if (each.type === 'arguments-delta') return call(each.index, { id: '', function: { arguments: each.text } });
  if (each.type !== 'block-start' || each.block.type !== 'tool-call') return null;
  calls.set(each.index, calls.size);
  return call(each.index, { id: each.block.id, function: { name: each.block.name, arguments: '' } });
}

function pieces(events: readonly ChatEvent[]): string[] {
  const message = foldEvents(events);
  const calls = new Map<number, number>();
  const out = events.flatMap((each) => {
    const delta = fragment(each, calls);
    return delta ? [event({ role: 'assistant', content: '', ...delta }, 'null', {})] : [];
  });
  return [...out, event({ role: 'assistant', content: '' }, finishes[message.finish.reason] ?? 'stop', usageOf(message))];
}

/** Every event repeats all that was said before it. */
function repetitions(events: readonly ChatEvent[]): string[] {
  const whole = foldEvents(events);
  const out: string[] = [];
  for (let at = 1; at <= events.length; at++) {
    if (fragment(events[at - 1]!, new Map()) !== null) out.push(event(messageOf(foldEvents(events.slice(0, at)).blocks), 'null', { output_tokens: at }));
  }
  return [...out, event(messageOf(whole.blocks), finishes[whole.finish.reason] ?? 'stop', usageOf(whole))];
}

/** The compatible wire has the same messages: its reader reads them back. */
function readRequest(body: unknown): Conversation {
  const { model, input, parameters } = body as { model: string; input: { messages: { content: unknown }[] }; parameters: Record<string, unknown> };
  const messages = input.messages.map((message) => ({ ...message, content: Array.isArray(message.content) ? message.content.map(typed) : message.content }));
  const door = findProtocol('alpha')!.client!;
  return door.readRequest({ model, messages, ...parameters }, { path: '', operation: 'generate', streamForm: 'sse', headers: {} }).conversation;
}

const typed = (part: Record<string, unknown>): unknown => {
  if ('image' in part) return { type: 'image_url', image_url: { url: part['image'] } };
  return 'text' in part ? { type: 'text', ...part } : { type: 'text', text: JSON.stringify(part) };
};

const whole = (message: Message): unknown => ({
  output: { choices: [{ message: messageOf(message.blocks), finish_reason: finishes[message.finish.reason] ?? 'stop' }] },
  usage: usageOf(message),
  request_id: 'r-1',
});

export const deltaPlayer: UpstreamPlayer = { stream: pieces, whole, readRequest };
export const cumulativeDeltaPlayer: UpstreamPlayer = { stream: repetitions, whole, readRequest };
