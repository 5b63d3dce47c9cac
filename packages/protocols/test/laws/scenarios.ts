/** Canonical replies and requests that every law runs over. */
import { noUsage, type Usage } from '@model-gateway/contracts';
import type { BlockStart, ChatEvent, Conversation, FinishReason } from '../../src/index.ts';

export interface ReplyScenario {
  name: string;
  events: ChatEvent[];
}

const usage: Usage = { ...noUsage, input: 120, cacheRead: 40, output: 30, reasoning: 0 };

interface BlockSpec {
  start: BlockStart;
  deltas: string[];
  signature?: string;
}

const text = (...deltas: string[]): BlockSpec => ({ start: { type: 'text' }, deltas });
const thinking = (signature: string | undefined, ...deltas: string[]): BlockSpec => ({
  start: { type: 'thinking' },
  deltas,
  ...(signature !== undefined && { signature }),
});
const tool = (id: string, name: string, ...deltas: string[]): BlockSpec => ({ start: { type: 'tool-call', id, name }, deltas });

const deltaTypes = { text: 'text-delta', thinking: 'thinking-delta', 'tool-call': 'arguments-delta', refusal: 'refusal-delta' } as const;
const deltaEvent = (index: number, spec: BlockSpec, delta: string): ChatEvent => ({
  type: deltaTypes[spec.start.type as keyof typeof deltaTypes],
  index,
  text: delta,
});

function build(blocks: BlockSpec[], reason: FinishReason, more: { usage?: Usage; stopSequence?: string } = {}): ChatEvent[] {
  const events: ChatEvent[] = [{ type: 'start', id: 'upstream-1', model: 'real-model', createdAt: 1_700_000_000 }];
  blocks.forEach((spec, index) => {
    events.push({ type: 'block-start', index, block: spec.start });
    for (const delta of spec.deltas) events.push(deltaEvent(index, spec, delta));
    if (spec.signature !== undefined) events.push({ type: 'signature', index, signature: spec.signature });
    events.push({ type: 'block-end', index });
  });
  events.push(
    { type: 'finish', reason, ...(more.stopSequence !== undefined && { stopSequence: more.stopSequence }) },
    { type: 'usage', usage: more.usage ?? usage },
    { type: 'end' },
  );
  return events;
}

/** Two calls whose fragments arrive in turns, as chat completions may send them. */
function interleaved(): ChatEvent[] {
  const calls = [tool('call_a', 'first', '{"a":', '1}'), tool('call_b', 'second', '{"b":"', 'é😀"}')];
  const events: ChatEvent[] = [{ type: 'start', id: 'upstream-2', model: 'real-model' }];
  calls.forEach((spec, index) => events.push({ type: 'block-start', index, block: spec.start }));
  for (const at of [0, 1]) calls.forEach((spec, index) => events.push(deltaEvent(index, spec, spec.deltas[at]!)));
  calls.forEach((_, index) => events.push({ type: 'block-end', index }));
  return [...events, { type: 'finish', reason: 'tool-calls' }, { type: 'usage', usage }, { type: 'end' }];
}

export const replyScenarios: ReplyScenario[] = [
  { name: 'text', events: build([text('Hello', ', ', 'world')], 'stop') },
  { name: 'text beyond ASCII', events: build([text('Grüße ', '你好 ', '👩‍👩‍👧‍👦', ' \u2028 "quoted" \\ \n\t data: x\n\n')], 'stop') },
  { name: 'one call', events: build([tool('call_1', 'get_weather', '{"city":', '"Paris"', '}')], 'tool-calls') },
  { name: 'call without arguments', events: build([tool('call_1', 'now')], 'tool-calls') },
  { name: 'text then call', events: build([text('Let me look. '), tool('call_1', 'look', '{"q":"x"}')], 'tool-calls') },
  { name: 'parallel calls', events: build([tool('call_1', 'one', '{"n":1}'), tool('call_2', 'two', '{"n":2}')], 'tool-calls') },
  { name: 'interleaved calls', events: interleaved() },
  {
    name: 'thinking then text',
    events: build([thinking('c2lnbmF0dXJlLW9uZQ==', 'Hmm, ', 'think.'), text('Answer.')], 'stop', { usage: { ...usage, reasoning: 12 } }),
  },
  { name: 'thinking then call', events: build([thinking('c2lnbmF0dXJlLXR3bw==', 'Need a tool.'), tool('call_9', 'search', '{"q":"y"}')], 'tool-calls') },
  {
    name: 'thinking, text beyond ASCII, call',
    events: build([thinking('c2lnbmF0dXJlLXR3bw==', 'Ü 你'), text('é😀', '"\\'), tool('call_9', 'search', '{"q":', '"ß"}')], 'tool-calls'),
  },
  { name: 'thinking without proof', events: build([thinking(undefined, 'Open reasoning.'), text('Done.')], 'stop') },
  { name: 'text, call, text', events: build([text('Before. '), tool('call_1', 'mid', '{}'), text('After.')], 'tool-calls') },
  { name: 'cut by length', events: build([text('This is cut')], 'length') },
  { name: 'stop sequence', events: build([text('Up to here')], 'stop-sequence', { stopSequence: 'END' }) },
  { name: 'refusal', events: build([{ start: { type: 'refusal' }, deltas: ['I cannot ', 'help with that.'] }], 'refusal') },
  { name: 'content filter', events: build([text('Some')], 'content-filter') },
  { name: 'empty', events: build([], 'stop') },
];

const base: Pick<Conversation, 'tools' | 'stream'> = { tools: [], stream: true };
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

export interface RequestScenario {
  name: string;
  conversation: Conversation;
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const requestScenarios: RequestScenario[] = [
  { name: 'one line', conversation: { ...base, system: [], sampling: { maxTokens: 100 }, turns: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] } },
  {
    name: 'system, turns and sampling',
    conversation: {
      ...base,
      system: [{ text: 'Be brief.' }],
      sampling: { maxTokens: 500, temperature: 0.5, topP: 0.9, stop: ['END'] },
      turns: [
        { role: 'user', parts: [{ type: 'text', text: 'Grüße 👋' }] },
        { role: 'assistant', parts: [{ type: 'text', text: 'Hello' }] },
        { role: 'user', parts: [{ type: 'text', text: 'More' }] },
      ],
    },
  },
  {
    name: 'image',
    conversation: {
      ...base,
      system: [],
      sampling: { maxTokens: 100 },
      turns: [
        {
          role: 'user',
          parts: [
            { type: 'text', text: 'What is it?' },
            { type: 'media', kind: 'image', mimeType: 'image/png', data: png },
          ],
        },
      ],
    },
  },
  {
    name: 'tools and forced choice',
    conversation: {
      ...base,
      system: [],
      sampling: { maxTokens: 100 },
      tools: [{ type: 'function', name: 'get_weather', description: 'Weather', parameters: schema }],
      toolChoice: { type: 'tool', name: 'get_weather' },
      turns: [{ role: 'user', parts: [{ type: 'text', text: 'Paris?' }] }],
    },
  },
  {
    name: 'tool loop',
    conversation: {
      ...base,
      system: [],
      sampling: { maxTokens: 100 },
      tools: [{ type: 'function', name: 'get_weather', description: 'Weather', parameters: schema }],
      turns: [
        { role: 'user', parts: [{ type: 'text', text: 'Paris?' }] },
        { role: 'assistant', parts: [{ type: 'tool-call', id: 'toolu_1', name: 'get_weather', arguments: '{"city":"Paris"}' }] },
        { role: 'user', parts: [{ type: 'tool-result', callId: 'toolu_1', name: 'get_weather', content: [{ type: 'text', text: '21 °C' }] }] },
      ],
    },
  },
  {
    name: 'schema output',
    conversation: {
      ...base,
      system: [],
      sampling: { maxTokens: 100 },
      output: { type: 'schema', schema: { ...schema, additionalProperties: false }, name: 'place', strict: true },
      turns: [{ role: 'user', parts: [{ type: 'text', text: 'Where?' }] }],
    },
  },
];
