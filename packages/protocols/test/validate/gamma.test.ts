/** The validator itself: a good stream has no faults, and each broken rule is found. */
import { describe, expect, test } from '@jest/globals';
import { validateStream, validateWhole } from './gamma.ts';

const chunk = (parts: unknown[], candidate: object = {}, more: object = {}): string =>
  JSON.stringify({ candidates: [{ content: { parts, role: 'model' }, index: 0, ...candidate }], modelVersion: 'm', responseId: 'r', ...more });
const event = (json: string): string => `data: ${json}\r\n\r\n`;
const last = chunk([{ text: '' }], { finishReason: 'STOP' });

describe('gamma validator', () => {
  test('good streams', () => {
    expect(validateStream(`${event(chunk([{ text: 'a' }]))}:keep-alive\n\n\n${event(last)}`, 'sse')).toEqual([]);
    expect(validateStream(`[${chunk([{ text: 'a' }])}\n,\r\n${last}\n]`, 'json-array')).toEqual([]);
  });

  test.each<[string, string]>([
    ['nothing', ''],
    ['no finish', event(chunk([{ text: 'a' }]))],
    ['content after the finish', event(last) + event(chunk([{ text: 'a' }]))],
    ['an end mark', `${event(last)}data: [DONE]\r\n\r\n`],
    ['an event line', `event: x\r\n${event(last)}`],
    ['an unfinished event', event(last).trimEnd()],
    ['no parts', event(chunk([])) + event(last)],
    ['an empty part', event(chunk([{}])) + event(last)],
    ['arguments as text', event(chunk([{ functionCall: { name: 'f', args: '{}' } }])) + event(last)],
    ['an empty id', event(chunk([{ functionCall: { id: '', name: 'f', args: {} } }])) + event(last)],
    ['base64url', event(chunk([{ text: '', thoughtSignature: 'a-_=' }])) + event(last)],
    ['an unknown word', event(chunk([{ text: '' }], { finishReason: 'DONE' }))],
    [
      'a wrong sum',
      event(chunk([{ text: '' }], { finishReason: 'STOP' }, { usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 3 } })),
    ],
    [
      'a warning with a natural end',
      event(chunk([{ text: '' }], { finishReason: 'STOP' }, { _gateway_warning: { reason: '', detail: '', last_finish_reason: null, timestamp: '' } })),
    ],
  ])('%s', (_name, text) => {
    expect(validateStream(text, 'sse')).not.toEqual([]);
  });

  test('an open array, and a whole reply without a finish', () => {
    expect(validateStream(`[${last}`, 'json-array')).not.toEqual([]);
    expect(validateWhole(JSON.parse(chunk([{ text: 'a' }])))).not.toEqual([]);
    expect(validateWhole(JSON.parse(last))).toEqual([]);
  });
});
