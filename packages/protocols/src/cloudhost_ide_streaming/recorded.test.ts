/** Every recorded exchange of this protocol reads well, in pieces of any size; its cuts and failures are seen. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createEventStreamParser } from '@model-gateway/stream-framing';
import { writeEvent, writeMessage } from '../../test/play/event-stream.ts';
import { describeRecorded } from '../../test/support/describe-recorded.ts';
import { recordingsFolder } from '../../test/support/recordings-folder.ts';
import type { ChatEvent } from '../chat/event.ts';
import { foldEvents } from '../chat/fold.ts';
import type { Target } from '../contract/index.ts';
import { readModelList } from './upstream/endpoint.ts';
import { readError } from './upstream/errors.ts';
import { IdeStreamingReader } from './upstream/read-response.ts';

const folder = join(recordingsFolder, 'cloudhost_ide_streaming');
const present = existsSync(folder);

const streams = present ? readdirSync(folder).filter((name) => existsSync(join(folder, name, 'response.eventstream.bin'))) : [];
const target: Target = { baseUrl: 'https://h', directPath: false, upstreamModelId: 'auto', neutralHeaders: false, extraConfig: null };

function readBytes(bytes: Uint8Array, size = 1 << 20): ChatEvent[] {
  const parser = createEventStreamParser({ maxMessageBytes: 1 << 20 });
  const reader = new IdeStreamingReader(target);
  const events: ChatEvent[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const record of parser.push(bytes.subarray(at, at + size))) events.push(...reader.read({ ...record, json: JSON.parse(record.data) }));
  }
  parser.finish();
  return [...events, ...reader.finish()];
}

interface Frame {
  headers: Record<string, string>;
  payload: Record<string, unknown>;
}
const framesOf = (name: string): Frame[] =>
  readFileSync(join(folder, name, 'response.events.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Frame);

/** What the recording says, added up without any of our code. */
function sumUp(frames: readonly Frame[]) {
  const of = (type: string) => frames.filter(({ headers }) => headers[':event-type'] === type).map(({ payload }) => payload);
  const calls = new Map<unknown, { name: unknown; arguments: string }>();
  for (const { toolUseId, name, input } of of('toolUseEvent')) {
    const call = calls.get(toolUseId) ?? { name, arguments: '' };
    calls.set(toolUseId, { ...call, arguments: call.arguments + String(input ?? '') });
  }
  return {
    text: of('assistantResponseEvent')
      .map(({ content }) => content)
      .join(''),
    thinking: of('reasoningContentEvent')
      .map(({ text }) => text ?? '')
      .join(''),
    calls: [...calls.values()],
    finish: calls.size > 0 ? 'tool-calls' : 'stop',
  };
}

function meaning(events: readonly ChatEvent[]) {
  const message = foldEvents(events);
  const join = (kind: string): string => message.blocks.flatMap((block) => (block.start.type === kind ? [block.text] : [])).join('');
  return {
    text: join('text'),
    thinking: join('thinking'),
    calls: message.blocks.flatMap(({ start, text }) => (start.type === 'tool-call' ? [{ name: start.name, arguments: text }] : [])),
    finish: message.finish.reason,
  };
}

const ended = (events: readonly ChatEvent[]): boolean => events.some(({ type }) => type === 'end');

describeRecorded(present, 'cloudhost_ide_streaming')('recordings', () => {
  test('are all found', () => expect(streams).toHaveLength(6));

  test.each(streams)('%s', (name) => {
    const bytes = readFileSync(join(folder, name, 'response.eventstream.bin'));
    const events = readBytes(bytes);
    expect(events.at(-1)).toEqual({ type: 'end' });
    expect(meaning(events)).toEqual(sumUp(framesOf(name)));
    for (const { arguments: text } of meaning(events).calls) JSON.parse(text);
    for (const size of [1, 7, 100]) expect(readBytes(bytes, size)).toEqual(events);
  });

  test.each(streams)('%s: cut before its closing events it is no reply', (name) => {
    const frames = framesOf(name);
    const closing = frames.findIndex(({ headers }) => headers[':event-type'] === 'contextUsageEvent');
    for (let count = 0; count <= closing; count++) {
      const cut = Buffer.concat(frames.slice(0, count).map(({ headers, payload }) => writeMessage(headers, payload)));
      expect(ended(readBytes(cut))).toBe(false);
    }
  });

  test('an image that the model cannot see', () => {
    const body = readFileSync(join(folder, 'image-input-rejected-400/response.json'), 'utf8');
    expect(readError(400, {}, body)).toMatchObject({ class: 'caller', status: 400, code: 'IMAGE_FORMAT_UNSUPPORTED' });
  });

  test('the list of models', () =>
    expect(readModelList(JSON.parse(readFileSync(join(folder, 'list-models/response.json'), 'utf8')))).toEqual(
      expect.arrayContaining(['auto', 'claude-opus-4.7', 'claude-sonnet-4.6']),
    ));
});

describe('what no recording holds', () => {
  const metering = writeEvent('meteringEvent', { usage: 1 });
  const say = (content: string): Buffer => writeEvent('assistantResponseEvent', { content });
  const read = (...messages: Buffer[]): ChatEvent[] => readBytes(Buffer.concat(messages));

  test('a call that never stops is a cut, whatever follows', () => {
    const call = writeEvent('toolUseEvent', { toolUseId: 't1', name: 'f', input: '{"a":' });
    expect(ended(read(call, metering))).toBe(false);
    expect(ended(read(call, writeEvent('toolUseEvent', { toolUseId: 't1', name: 'f', input: '1}', stop: true }), metering))).toBe(true);
  });

  test('exceptions, errors and invalid states end the stream', () => {
    const exception = writeMessage({ ':exception-type': 'ThrottlingException', ':message-type': 'exception' }, { message: 'slow down' });
    expect(read(say('x'), exception, say('y')).at(-1)).toMatchObject({ type: 'error', error: { class: 'rate', message: 'slow down' } });
    const error = writeMessage({ ':error-code': 'InternalServerException', ':message-type': 'error' }, { message: 'oh' });
    expect(read(error).at(-1)).toMatchObject({ error: { class: 'server' } });
    const state = writeEvent('invalidStateEvent', { reason: 'INVALID_TASK_ASSIST_PLAN', message: 'no' });
    expect(read(state).at(-1)).toMatchObject({ error: { class: 'caller', code: 'INVALID_TASK_ASSIST_PLAN' } });
  });

  test.each([
    ['INSUFFICIENT_MODEL_CAPACITY', 429, 'overloaded'],
    ['MONTHLY_REQUEST_COUNT', 402, 'account'],
    ['DAILY_REQUEST_COUNT', 429, 'account'],
    ['TEMPORARILY_SUSPENDED', 403, 'account'],
    ['CONTENT_LENGTH_EXCEEDS_THRESHOLD', 400, 'context'],
    ['INVALID_MODEL_ID', 400, 'not-found'],
  ])('%s', (reason, status, kind) =>
    expect(readError(status, {}, JSON.stringify({ __type: 'x#ThrottlingException', message: 'm', reason }))).toMatchObject({ class: kind, code: reason }),
  );

  test('an expired token, a page of a proxy', () => {
    expect(readError(403, {}, '{"message":"The bearer token included in the request is invalid."}')).toMatchObject({ class: 'credential' });
    expect(readError(502, {}, '<html>')).toMatchObject({ class: 'server', status: 502 });
  });

  test('thinking in front of the text, cut anywhere', () => {
    const text = '\n<thinking>one <b> two</thinking>\n\nThe <answer>.';
    for (let size = 1; size <= text.length; size++) {
      const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g'))!.map(say);
      expect(meaning(read(...pieces, metering))).toMatchObject({ thinking: 'one <b> two', text: 'The <answer>.' });
    }
    expect(meaning(read(say('Say <thinking>x</thinking>'), metering))).toMatchObject({ thinking: '', text: 'Say <thinking>x</thinking>' });
    expect(meaning(read(say('<think'), metering))).toMatchObject({ thinking: '', text: '<think' });
  });

  test('signatures of thoughts, thoughts without text, links', () => {
    const links = { supplementaryWebLinks: [{ url: 'https://a.example', title: 'A' }, { title: 'no address' }] };
    const message = foldEvents(
      read(
        writeEvent('reasoningContentEvent', { text: 'Hm' }),
        writeEvent('reasoningContentEvent', { signature: 'c2ln' }),
        writeEvent('reasoningContentEvent', { redactedContent: 'b3BhcXVl' }),
        say('Yes.'),
        writeEvent('supplementaryWebLinksEvent', links),
        writeEvent('metadataEvent', { stopReason: 'MAX_TOKENS', tokenUsage: { uncachedInputTokens: 5, cacheReadInputTokens: 2, outputTokens: 3 } }),
      ),
    );
    expect(message.blocks.map(({ start, text, signature }) => [start.type, text, signature])).toEqual([
      ['thinking', 'Hm', 'c2ln'],
      ['redacted-thinking', '', undefined],
      ['text', 'Yes.', undefined],
      ['raw', '', undefined],
    ]);
    expect(message.finish.reason).toBe('length');
    expect(message.usage).toMatchObject({ input: 5, cacheRead: 2, output: 3 });
  });

  test('strange payloads harm nothing', () => {
    const names = [
      'assistantResponseEvent',
      'toolUseEvent',
      'reasoningContentEvent',
      'metadataEvent',
      'contextUsageEvent',
      'citationEvent',
      '__proto__',
      'constructor',
    ];
    for (const name of names)
      for (const payload of [null, [], '', 5, { content: 7, input: [1], text: {}, tokenUsage: 'x' }]) read(writeEvent(name, payload), metering);
  });
});
