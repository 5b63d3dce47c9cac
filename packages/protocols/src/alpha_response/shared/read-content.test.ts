import { expect, test } from '@jest/globals';
import { readContext } from '../../../test/support/alpha-response.ts';
import { readRequest } from '../client/read-request.ts';

test('sound that a tool gives', () => {
  const output = [
    { type: 'input_text', text: 'heard' },
    { type: 'input_audio', audio_url: 'data:audio/wav;base64,AAA' },
  ];
  const items = [
    { role: 'user', content: 'q' },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
  ];
  const { turns } = readRequest({ model: 'm', input: [...items, { type: 'function_call_output', call_id: 'a', output }] }, readContext).conversation;
  const sound = { type: 'media', kind: 'audio', mimeType: 'audio/wav', data: 'AAA' };
  expect(turns.at(-1)?.parts).toEqual([expect.objectContaining({ type: 'tool-result', content: [{ type: 'text', text: 'heard' }, sound] })]);
});
