/** Our own small payloads: what each must mean, so that the protocol is held even where the recordings are absent. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createSseParser } from '@model-gateway/stream-framing';
import type { ChatEvent } from '../chat/event.ts';
import { foldEvents } from '../chat/fold.ts';
import { readError } from './shared/errors.ts';
import { AlphaReader, readWhole } from './upstream/read-response.ts';

const load = (name: string): string => readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8');

function readStream(name: string): ChatEvent[] {
  const parser = createSseParser({ maxEventBytes: 1 << 20 });
  const reader = new AlphaReader();
  const records = [...parser.push(new TextEncoder().encode(load(name))), ...parser.finish()];
  const events = records.flatMap(({ event, data }) => reader.read({ event, data, json: data === '[DONE]' ? undefined : (JSON.parse(data) as unknown) }));
  return [...events, ...reader.finish()];
}

const usage = { input: 8, cacheRead: 12, cacheWrite5m: 0, cacheWrite1h: 0, output: 5, reasoning: 3 };

test('text', () => {
  const events = readStream('text.sse');
  expect(events.map((event) => event.type)).toEqual(['start', 'block-start', 'text-delta', 'text-delta', 'usage', 'block-end', 'finish', 'end']);
  expect(foldEvents(events)).toMatchObject({ blocks: [{ text: 'Grüße, world 🌍' }], finish: { reason: 'stop' }, usage });
});

test('parallel calls after text', () => {
  expect(foldEvents(readStream('parallel-calls.sse'))).toMatchObject({
    blocks: [
      { start: { type: 'text' }, text: 'Let me look.' },
      { start: { type: 'tool-call', id: 'call_one', name: 'get_weather' }, text: '{"city":"Paris"}' },
      { start: { type: 'tool-call', id: 'call_two', name: 'now' }, text: '{}' },
    ],
    finish: { reason: 'tool-calls' },
  });
});

test('reasoning with a signature, comments, and a finish that is sent twice', () => {
  const { blocks, ...rest } = foldEvents(readStream('reasoning-details.sse'));
  expect(blocks.map((block) => block.text)).toEqual(['Two plus two.', 'Four.']);
  expect(JSON.parse(blocks[0]?.signature ?? '')).toEqual({ type: 'reasoning.text', signature: 'c2lnbmF0dXJl', format: 'vendor-v1' });
  expect(rest).toMatchObject({ finish: { reason: 'stop' }, usage });
});

test('an error in the middle, and a cut', () => {
  expect(readStream('error-midstream.sse').at(-1)).toMatchObject({ type: 'error', error: { class: 'server', status: 500 } });
  expect(readStream('cut.sse').map((event) => event.type)).toEqual(['start', 'block-start', 'text-delta']);
});

test('a whole reply, and a prompt that is too long', () => {
  expect(foldEvents(readWhole(JSON.parse(load('whole.json'))))).toMatchObject({ blocks: [{ text: 'Two plus two.' }, { text: 'Four.' }], usage });
  expect(readError(400, {}, load('error-context.json'))).toMatchObject({ class: 'context', param: 'messages', code: 'context_length_exceeded' });
});
