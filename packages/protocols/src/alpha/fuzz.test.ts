/** Properties: no content of an upstream makes the reader throw or break the order of blocks, and no body of a caller does worse than a named 400. */
import { describe, expect, test } from '@jest/globals';
import { isGatewayError } from '@model-gateway/contracts/errors';
import fc from 'fast-check';
import { validateStream } from '../../test/validate/alpha.ts';
import type { ChatEvent } from '../chat/event.ts';
import { foldEvents } from '../chat/fold.ts';
import { readRequest } from './client/read-request.ts';
import { AlphaTerminator } from './client/stream-terminator.ts';
import { AlphaWriter, writeWhole } from './client/write-response.ts';
import { readError } from './shared/errors.ts';
import { AlphaReader, readWhole } from './upstream/read-response.ts';
import { writeRequest } from './upstream/write-request.ts';

const odd = fc.constantFrom<unknown>(null, undefined, '', [], {}, 0, -1, false, true, 'x', [null], [[]], { __proto__: null }, 1e308);
const text = fc.constantFrom('a', '', 'é😀', '{"k":', '1}', '{}', '\n\n');
const maybe = (usual: fc.Arbitrary<unknown>) => fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: odd });
const fields = (model: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(Object.fromEntries(Object.entries(model).map(([key, usual]) => [key, maybe(usual)])), { requiredKeys: [] });

const fragment = fields({
  index: fc.nat(3),
  id: fc.constantFrom('', 'c1', 'c2'),
  type: fc.constantFrom('function', 'custom'),
  function: fields({ name: fc.constantFrom('f', 'g', ''), arguments: text }),
  custom: fields({ name: fc.constantFrom('h'), input: text }),
  extra_content: fc.constant({ google: { thought_signature: 'P' } }),
});
const detail = fields({
  type: fc.constantFrom('reasoning.text', 'reasoning.encrypted'),
  text,
  signature: text,
  data: text,
  index: fc.nat(2),
  format: fc.constantFrom('v1', 'unknown'),
  span: fc.constant([0, 1]),
});
const delta = fields({
  role: fc.constant('assistant'),
  content: fc.oneof(text, fc.array(fields({ type: fc.constant('thinking'), text, thinking: fc.array(fields({ text })) }), { maxLength: 2 })),
  reasoning_content: text,
  reasoning: text,
  reasoning_details: fc.array(detail, { maxLength: 2 }),
  tool_calls: fc.array(fragment, { maxLength: 2 }),
  function_call: fields({ name: fc.constant('f'), arguments: text }),
  refusal: text,
  annotations: fc.array(fc.constant({ type: 'url_citation' }), { maxLength: 1 }),
});
const counts = fields({
  prompt_tokens: fc.nat(99),
  completion_tokens: fc.nat(99),
  total_tokens: fc.nat(300),
  prompt_tokens_details: fields({ cached_tokens: fc.nat(99) }),
});
const choice = fields({
  index: fc.nat(1),
  delta,
  message: delta,
  finish_reason: fc.constantFrom('stop', 'tool_calls', 'length', '', 'eos'),
  logprobs: fc.constant({ content: [{ token: 'a' }] }),
});
const chunk = fields({
  id: fc.constant('id'),
  created: fc.nat(),
  model: fc.constant('m'),
  choices: fc.array(choice, { maxLength: 2 }),
  usage: counts,
  x_groq: fields({ usage: counts }),
});

const context = () => {
  let next = 0;
  return {
    requestId: 'r',
    model: 'm',
    createdAt: 1,
    now: () => 2,
    streamForm: 'sse' as const,
    mintId: (prefix: string) => `${prefix}${++next}`,
    sealSignature: (signature: string) => signature,
    echo: { includeUsage: true, legacyFunctions: false },
    inputEstimate: 0,
  };
};

function orderFaults(events: readonly ChatEvent[]): string[] {
  const open = new Set<number>();
  const faults: string[] = [];
  for (const event of events) {
    if (event.type === 'block-start') open.add(event.index);
    else if ('index' in event && !open.has(event.index)) faults.push(`${event.type} on a closed block`);
    else if (event.type === 'finish' && open.size > 0) faults.push('finish with open blocks');
    if (event.type === 'block-end') open.delete(event.index);
  }
  return faults;
}

/** Rules about what an upstream said, which a writer does not correct: a model may well write broken JSON, or a nameless call. */
const upstreamsOwn = /arguments are no JSON object|has no name/;

describe('replies', () => {
  test('any chunks: no throw, blocks in order, and what is written is a valid stream', () => {
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 8 }), (chunks) => {
        const reader = new AlphaReader();
        const events = [...chunks.flatMap((json) => reader.read({ data: '', json })), ...reader.read({ data: '[DONE]', json: undefined })];
        expect(orderFaults(events)).toEqual([]);
        const writer = new AlphaWriter(context());
        const written = events.map((event) => writer.write(event)).join('');
        if (events.at(-1)?.type !== 'end') return;
        expect(validateStream(written).filter((fault) => !upstreamsOwn.test(fault))).toEqual([]);
        writeWhole(foldEvents(events), context());
      }),
      { numRuns: 1500 },
    );
  });

  test('any body: whole replies, errors', () => {
    fc.assert(
      fc.property(fc.oneof(chunk, fc.jsonValue()), fc.nat(599), (body, status) => {
        expect(orderFaults(readWhole(body))).toEqual([]);
        expect(readError(status, {}, JSON.stringify(body) ?? '').message).not.toBe('');
      }),
      { numRuns: 800 },
    );
  });

  test('the stream terminator ends any prefix, wherever the bytes were cut', () => {
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 4 }), fc.array(fc.nat(400), { maxLength: 6 }), (chunks, cuts) => {
        const bytes = new TextEncoder().encode(chunks.map((json) => `data: ${JSON.stringify(json)}\n\n`).join(''));
        const pieces = (points: number[]) => {
          const terminator = new AlphaTerminator(context());
          const sorted = [0, ...points.filter((point) => point < bytes.length).sort((a, b) => a - b), bytes.length];
          for (const [at, point] of sorted.slice(1).entries()) terminator.observe(bytes.subarray(sorted[at], point));
          return terminator.close({ reason: 'r', detail: 'd', timestamp: 't' });
        };
        expect(pieces(cuts)).toBe(pieces([]));
        expect(pieces([])).toMatch(/data: \[DONE\]\n\n$/);
      }),
      { numRuns: 400 },
    );
  });
});

describe('requests', () => {
  const part = fields({
    type: fc.constantFrom('text', 'image_url', 'file', 'input_audio', 'refusal', 'thinking'),
    text,
    image_url: fields({ url: text }),
    file: fields({ file_data: text }),
    input_audio: fields({ data: text, format: text }),
    refusal: text,
    thinking: text,
  });
  const message = fields({
    role: fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool', 'function'),
    content: fc.oneof(text, fc.array(part, { maxLength: 3 })),
    tool_calls: fc.array(fragment, { maxLength: 2 }),
    tool_call_id: fc.constantFrom('c1', ''),
    name: text,
    reasoning_content: text,
    reasoning_details: fc.array(detail, { maxLength: 3 }),
    refusal: text,
  });
  const tool = fields({
    type: fc.constantFrom('function', 'custom', 'web_search'),
    function: fields({ name: fc.constant('f'), parameters: fc.constant({}) }),
    custom: fields({ name: fc.constant('h') }),
  });
  const body = fields({
    model: fc.constant('m'),
    messages: fc.array(message, { maxLength: 5 }),
    tools: fc.array(tool, { maxLength: 2 }),
    tool_choice: fc.constantFrom<unknown>('auto', { type: 'function', function: { name: 'f' } }),
    response_format: fields({ type: fc.constantFrom('json_object', 'json_schema'), json_schema: fields({ schema: fc.constant({}) }) }),
    stop: fc.oneof(text, fc.array(text)),
    temperature: fc.double(),
    reasoning_effort: fc.constantFrom('low', 'none'),
    reasoning: fields({ max_tokens: fc.nat() }),
    stream_options: fields({ include_usage: fc.boolean() }),
  });

  test('any body: read and printed for every family, or refused with the field named', () => {
    fc.assert(
      fc.property(body, fc.constantFrom('gpt-5', 'deepseek-chat', 'gemini-3-pro', 'claude-x', 'any'), (given, model) => {
        const before = JSON.stringify(given);
        try {
          const { conversation } = readRequest(given, { path: '', operation: 'generate', streamForm: 'sse', headers: {} });
          const target = { baseUrl: 'https://h', directPath: false, upstreamModelId: model, neutralHeaders: false, extraConfig: null };
          const { body: out } = writeRequest(conversation, {
            target,
            operation: 'generate',
            stream: true,
            openSignature: (sealed) => sealed,
            mintId: (prefix) => `${prefix}1`,
          });
          // What we print, we can read.
          readRequest(
            JSON.parse(JSON.stringify({ ...(out as object), messages: [...(out as { messages: unknown[] }).messages, { role: 'user', content: 'x' }] })),
            { path: '', operation: 'generate', streamForm: 'sse', headers: {} },
          );
        } catch (error) {
          if (!isGatewayError(error)) throw error;
          expect([error.code, typeof error.param]).toEqual(['invalid_request', 'string']);
        }
        expect(JSON.stringify(given)).toBe(before);
      }),
      { numRuns: 1500 },
    );
  });
});
