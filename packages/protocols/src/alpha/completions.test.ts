/** Legacy completions: read for usage, passed on, and closed in their own words. */
import { describe, expect, test } from '@jest/globals';
import { foldEvents } from '../chat/fold.ts';
import type { Target } from '../contract/index.ts';
import { readRequest } from './client/read-request.ts';
import { AlphaTerminator } from './client/stream-terminator.ts';
import { request } from './upstream/endpoint.ts';
import { AlphaReader, readWhole } from './upstream/read-response.ts';

const chunk = (text: string, finish: string | null, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'cmpl-1', object: 'text_completion', created: 5, model: 'm', choices: [{ text, index: 0, logprobs: null, finish_reason: finish }], ...more })}\n\n`;
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

test('streamed and whole they read as text', () => {
  const reader = new AlphaReader();
  const events = [chunk('Hel', null), chunk('lo', null), chunk('', 'stop', { usage })].flatMap((one) =>
    reader.read({ data: one.slice(6), json: JSON.parse(one.slice(6)) }),
  );
  const streamed = foldEvents([...events, ...reader.read({ data: '[DONE]', json: undefined })]);
  const whole = foldEvents(readWhole({ object: 'text_completion', choices: [{ text: 'Hello', index: 0, finish_reason: 'stop' }], usage }));
  for (const message of [streamed, whole]) {
    expect(message).toMatchObject({ blocks: [{ text: 'Hello' }], finish: { reason: 'stop' }, usage: { input: 3, output: 2 } });
  }
});

describe('closing', () => {
  const terminator = () =>
    new AlphaTerminator({ requestId: 'r', model: 'name', createdAt: 9, streamForm: 'sse', operation: 'complete', mintId: (prefix) => `${prefix}minted` });
  const close = (...written: string[]) => {
    const one = terminator();
    for (const text of written) one.observe(new TextEncoder().encode(text));
    const closing = one.close({ reason: 'upstream_broken', detail: 'd', timestamp: 't' });
    return closing.split('\n\n').filter(Boolean);
  };

  test('after some text', () => {
    const [last, end, ...rest] = close(chunk('Hel', null));
    expect(JSON.parse(last!.slice(6))).toEqual({
      id: 'cmpl-1',
      object: 'text_completion',
      created: 5,
      model: 'm',
      choices: [{ index: 0, text: '', logprobs: null, finish_reason: 'length' }],
      _gateway_warning: { reason: 'upstream_broken', detail: 'd', last_finish_reason: null, timestamp: 't' },
    });
    expect([end, rest]).toEqual(['data: [DONE]', []]);
  });

  test('when nothing was written, and when all was', () => {
    const [only, end] = close();
    expect(JSON.parse(only!.slice(6))).toMatchObject({ id: 'cmpl-minted', object: 'text_completion', model: 'name', choices: [{ finish_reason: 'length' }] });
    expect(end).toBe('data: [DONE]');
    expect(close(chunk('x', 'stop'), 'data: [DONE]\n\n')).toEqual([]);
  });
});

test.each([
  ['https://h', false, 'https://h/v1/completions'],
  ['https://h/v1', false, 'https://h/v1/completions'],
  ['https://h/x/chat/completions', true, 'https://h/x/completions'],
  ['https://h/x/chat/completions?api-version=1', true, 'https://h/x/completions?api-version=1'],
  ['https://h/whole', true, 'https://h/whole'],
])('%s, direct %s', (baseUrl, directPath, url) => {
  const target: Target = { baseUrl, directPath, upstreamModelId: 'm', neutralHeaders: false, extraConfig: null };
  expect(request({ target, operation: 'complete', stream: false }).url).toBe(url);
});

test('it is not translated', () => {
  const read = () => readRequest({ model: 'm', prompt: 'x' }, { path: '/v1/completions', operation: 'complete', streamForm: 'whole', headers: {} });
  expect(read).toThrow(expect.objectContaining({ status: 400, param: 'model' }));
});
