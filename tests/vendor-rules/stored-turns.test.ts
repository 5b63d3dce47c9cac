/** Whatever a stored turn was when it ended, the turn after it is one that every vendor takes, though it stored nothing of it and signed nothing in it. */
import { describe, expect, test } from '@jest/globals';
import { noUsage } from '@model-gateway/contracts';
import { type ChatEvent, findProtocol, type ReplyTurn } from '@model-gateway/protocols';
import { reach } from '../../packages/protocols/test/families/pass.ts';
import { createMemory, findRefusals } from './index.ts';

const client = findProtocol('alpha_response')?.client;
if (!client?.turns) throw new Error('the protocol has stored turns');
const { createWriter, turns } = client;

let minted = 0;
const mintId = (prefix: string): string => `${prefix}${String(++minted).padStart(24, '0')}`;
const turn: ReplyTurn = { id: 'resp_1', previous: null, conversation: null, store: true, background: false };
const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } }, strict: false }];
const first = { model: 'm', input: 'What is the weather in Paris?', tools };
const block = (index: number, block: Extract<ChatEvent, { type: 'block-start' }>['block']): ChatEvent => ({ type: 'block-start', index, block });
const events: ChatEvent[] = [
  { type: 'start' },
  block(0, { type: 'thinking' }),
  { type: 'thinking-delta', index: 0, text: 'Hm.' },
  { type: 'block-end', index: 0 },
  block(1, { type: 'text' }),
  { type: 'text-delta', index: 1, text: 'Let me look.' },
  { type: 'block-end', index: 1 },
  block(2, { type: 'tool-call', id: 'call_1', name: 'weather' }),
  { type: 'arguments-delta', index: 2, text: '{"city":' },
  { type: 'arguments-delta', index: 2, text: '"Paris"}' },
  { type: 'block-end', index: 2 },
  { type: 'usage', usage: { ...noUsage, input: 3, output: 2 } },
  { type: 'finish', reason: 'tool-calls' },
  { type: 'end' },
];

/** The items of the turn whose reply went so far. */
function storedAfter(count: number): unknown[] {
  const writer = createWriter({
    ...{ requestId: 'r', model: 'm', createdAt: 1, now: () => 2, streamForm: 'sse', mintId, inputEstimate: 1, turn },
    sealSignature: (signature) => signature,
  });
  const observer = turns?.createObserver(turn, { form: 'sse', model: 'm', createdAt: 1, body: first });
  for (const event of events.slice(0, count)) observer?.written(writer.write(event));
  const response = observer?.ended()?.response ?? observer?.broken('incomplete');
  return [...(turns?.inputItems(first, mintId, new Map()) ?? []), ...(response as { output: unknown[] }).output];
}

const isCompleteCall = (item: unknown): boolean => {
  const { type, status } = item as { type: string; status?: string };
  return type === 'function_call' && status === 'completed';
};

const models = [
  ['alpha', 'gpt-5.1'],
  ['alpha', 'deepseek-chat'],
  ['alpha', 'mistral-large-latest'],
  ['alpha_response', 'gpt-5.1'],
  ['beta', 'claude-sonnet-4-5'],
  ['gamma', 'gemini-2.5-pro'],
  ['delta', 'qwen-plus'],
  ['cloudhost_converse', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
] as const;

describe.each(models)('%s %s', (protocol, model) => {
  const refusalsOf = (asked: object, history: unknown[]): unknown[] => {
    const sent = turns?.expand({ model: 'm', tools, previous_response_id: 'resp_1', ...asked }, history, new Map()) as object;
    const { body } = reach('alpha_response', protocol, model, sent);
    return findRefusals(protocol, { body: { ...body }, modelId: model, headers: { 'anthropic-version': '2023-06-01' }, path: '/' }, createMemory()).map(
      ({ rule, message }) => [rule, message],
    );
  };

  test('after a reply that broke off anywhere', () => {
    for (let count = 0; count < events.length; count++) {
      const history = storedAfter(count);
      // Calls that are complete want their output.
      if (history.some(isCompleteCall)) continue;
      expect([count, refusalsOf({ input: 'Go on' }, history)]).toEqual([count, []]);
    }
  });

  test('after a complete one, whose call is answered', () => {
    const output = { type: 'function_call_output', call_id: 'call_1', output: 'Sunny.' };
    expect(refusalsOf({ input: [output] }, storedAfter(events.length))).toEqual([]);
    expect(refusalsOf({ input: [output, { role: 'user', content: 'And in Rome?' }] }, storedAfter(events.length))).toEqual([]);
  });
});
