import { describe, expect, test } from '@jest/globals';
import { noUsage } from '@model-gateway/contracts';
import { validateStream } from '../../../test/validate/alpha.ts';
import { AlphaTerminator } from './stream-terminator.ts';

const warning = { reason: 'upstream_broken', detail: 'It broke.', timestamp: '2026-01-01T00:00:00.000Z' };
const bytes = (text: string) => new TextEncoder().encode(text);
const create = () => new AlphaTerminator({ requestId: 'r', model: 'fallback', createdAt: 9, streamForm: 'sse', mintId: (prefix) => `${prefix}x` });
const chunk = (choices: unknown[], more: object = {}) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-7', object: 'chat.completion.chunk', created: 5, model: 'm', choices, ...more })}\n\n`;
const role = (index = 0) => chunk([{ index, delta: { role: 'assistant', content: '' }, finish_reason: null }]);
const say = (content: string, index = 0) => chunk([{ index, delta: { content }, finish_reason: null }]);
const finish = (reason = 'stop', index = 0) => chunk([{ index, delta: {}, finish_reason: reason }]);

/** The stream that the caller sees, with the ending, whatever the pieces were. */
function closeAfter(prefix: string, size = prefix.length || 1) {
  const terminator = create();
  const whole = bytes(prefix);
  for (let from = 0; from < whole.length; from += size) terminator.observe(whole.subarray(from, from + size));
  const closing = terminator.close(warning);
  return { terminator, closing, stream: prefix + closing };
}
const warningOf = (closing: string) => JSON.parse(/"_gateway_warning":(\{[^}]*\})/.exec(closing)?.[1] ?? 'null') as Record<string, unknown> | null;

test('nothing written yet: a complete stream', () => {
  const { closing } = closeAfter('');
  expect(validateStream(closing)).toEqual([]);
  expect(closing).toContain('"finish_reason":"length"');
  expect(closing).toContain('"model":"fallback"');
});

test('keep-alives are not content', () => {
  const { stream } = closeAfter(':keep-alive\n\n:keep-alive\n\n');
  expect(validateStream(stream)).toEqual([]);
});

test.each([1, 2, 3, 7, 1000])('after text, in pieces of %i bytes', (size) => {
  const { stream, closing } = closeAfter(role() + say('Grüße 😀') + say('\n\ndata: [DONE]\n\n"finish_reason":"stop"'), size);
  expect(validateStream(stream)).toEqual([]);
  expect(closing).toContain('"id":"chatcmpl-7"');
  expect(warningOf(closing)).toEqual({ reason: 'upstream_broken', detail: 'It broke.', last_finish_reason: null, timestamp: warning.timestamp });
});

test('after a finish only the warning and the terminator follow', () => {
  const { stream, closing } = closeAfter(role() + say('x') + finish('stop'));
  expect(validateStream(stream)).toEqual([]);
  expect(closing).toContain('"choices":[]');
  expect(warningOf(closing)?.['last_finish_reason']).toBe('stop');
});

test('a cut call is not completed, and its finish is not tool_calls', () => {
  const call = chunk([
    { index: 0, delta: { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'rm', arguments: '{"path":"/' } }] }, finish_reason: null },
  ]);
  const { stream, closing } = closeAfter(role() + call);
  expect(validateStream(stream)).toEqual([]);
  expect(closing).toContain('"finish_reason":"length"');
  expect(closing).not.toContain('tool_calls');
});

test('every choice that is open gets its end', () => {
  const { stream } = closeAfter(role(0) + role(1) + say('a', 1) + finish('stop', 0));
  expect(validateStream(stream)).toEqual([]);
  expect(closeAfter(role(0) + role(1) + finish('stop', 0)).closing).toContain('"choices":[{"index":1,');
});

test('positions of parallel calls are no choices', () => {
  const call = chunk([
    { index: 0, delta: { tool_calls: [{ index: 1, id: 'd', type: 'function', function: { name: 'f', arguments: '{}' } }] }, finish_reason: null },
  ]);
  expect(closeAfter(role() + call).closing).toContain('"choices":[{"index":0,');
  expect(closeAfter(role() + call).closing).not.toContain('{"index":1,');
});

test('after the proper end nothing is added', () => {
  const { terminator, closing } = closeAfter(`${role() + finish()}data: [DONE]\n\n`);
  expect(terminator.ended).toBe(true);
  expect(closing).toBe('');
  expect(closeAfter(`${role().replaceAll('\n', '\r\n')}data:[DONE]\r\n\r\n`).closing).toBe('');
  expect(closeAfter(`${role() + finish()}data: [DONE]`).closing).toBe('\n\n');
});

describe('usage', () => {
  const counts = { ...noUsage, input: 4, output: 2 };
  test.each([
    [true, 'with numbers where chunks promise them'],
    [false, 'without where they do not'],
  ])('%s: %s', (promised) => {
    const terminator = create();
    const prefix = chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }], promised ? { usage: null } : {});
    terminator.observe(bytes(prefix));
    const closing = terminator.close(warning, counts);
    expect(validateStream(prefix + closing)).toEqual([]);
    expect(closing.includes('"total_tokens":6')).toBe(promised);
  });
});

test('an event without end is not kept whole', () => {
  const terminator = create();
  terminator.observe(bytes(role()));
  for (let i = 0; i < 40; i++) terminator.observe(bytes('x'.repeat(100_000)));
  expect(terminator.close(warning)).toContain('data: [DONE]');
});
