/** Every recorded text exchange of this protocol reads well, in pieces of any size, and its requests can be written. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createSseParser } from '@model-gateway/stream-framing';
import { describeRecorded } from '../../test/support/describe-recorded.ts';
import { recordingsFolder } from '../../test/support/recordings-folder.ts';
import type { ChatEvent } from '../chat/event.ts';
import { foldEvents } from '../chat/fold.ts';
import { readTokenCount } from './upstream/endpoint.ts';
import { readError } from './upstream/errors.ts';
import { DeltaReader, readWhole } from './upstream/read-response.ts';

const folder = join(recordingsFolder, 'delta');
const present = existsSync(folder);

const text = (name: string): string => readFileSync(join(folder, name), 'utf8');
const cases = present ? readdirSync(folder).sort() : [];
const isGeneration = (name: string): boolean =>
  /generation\/generation/.test(text(`${name}/meta.json`)) && !name.startsWith('err') && !/^(image|audio)/.test(name);
const streamed = cases.filter((name) => isGeneration(name) && existsSync(join(folder, name, 'response.sse')));
const whole = cases.filter((name) => isGeneration(name) && existsSync(join(folder, name, 'response.json')));

function readBytes(bytes: Uint8Array, size: number): ChatEvent[] {
  const parser = createSseParser({ maxEventBytes: 1 << 20 });
  const reader = new DeltaReader();
  const events: ChatEvent[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const { event, data } of parser.push(bytes.subarray(at, at + size))) events.push(...reader.read({ event, data, json: JSON.parse(data) }));
  }
  for (const { event, data } of parser.finish()) events.push(...reader.read({ event, data, json: JSON.parse(data) }));
  return [...events, ...reader.finish()];
}

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON has every shape there is, and a wrong guess fails the test
type RecordedJson = any;

/** What the recording says, added up without any of our code. */
function sumUp(bodies: RecordedJson[]) {
  const sum = { text: '', thinking: '', calls: [] as { name: string; arguments: string }[], finish: '', input: 0, output: 0 };
  for (const { output, usage } of bodies) {
    const choice = output.choices?.[0];
    const message = choice?.message ?? { content: output.text };
    sum.text += Array.isArray(message.content) ? message.content.map((part: RecordedJson) => part.text).join('') : message.content;
    sum.thinking += message.reasoning_content ?? '';
    for (const call of message.tool_calls ?? []) {
      sum.calls[call.index] ??= { name: call.function.name, arguments: '' };
      sum.calls[call.index]!.arguments += call.function.arguments;
    }
    sum.finish = choice?.finish_reason ?? output.finish_reason;
    if (usage.input_tokens !== undefined) Object.assign(sum, { input: usage.input_tokens, output: usage.output_tokens });
  }
  return sum;
}

function meaning(events: readonly ChatEvent[]) {
  const message = foldEvents(events);
  const join = (kind: string): string => message.blocks.flatMap((block) => (block.start.type === kind ? [block.text] : [])).join('');
  const { input, cacheRead, output, reasoning } = message.usage;
  return {
    text: join('text'),
    thinking: join('thinking'),
    calls: message.blocks.flatMap(({ start, text }) => (start.type === 'tool-call' ? [{ name: start.name, arguments: text }] : [])),
    finish: message.finish.native,
    input: input + cacheRead,
    output: output + reasoning,
  };
}

describeRecorded(present, 'delta')('recordings', () => {
  test('are all found', () => expect([streamed.length, whole.length]).toEqual([8, 7]));

  test.each(streamed)('%s', (name) => {
    const body = text(`${name}/response.sse`);
    const bodies = [...body.matchAll(/^data:(.*)$/gm)].map(([, data]) => JSON.parse(data!) as RecordedJson);
    const events = readBytes(Buffer.from(body), 1 << 20);
    expect(events.at(-1)).toEqual({ type: 'end' });
    expect(meaning(events)).toEqual(sumUp(bodies));
    expect(readBytes(Buffer.from(body), 1)).toEqual(events);
    expect(readBytes(Buffer.from(body), 7)).toEqual(events);
    // Cut before its last event it is no reply.
    const cut = body.slice(0, body.lastIndexOf('\nid:'));
    expect(readBytes(Buffer.from(cut), 1 << 20).some(({ type }) => type === 'end')).toBe(false);
    // Sent as repetitions of the whole it means the same.
    const repeated = bodies.map((_, at) => asWhole(bodies.slice(0, at + 1)));
    const reader = new DeltaReader();
    const again = [...repeated.flatMap((json) => reader.read({ data: '', json })), ...reader.finish()];
    expect(meaning(again)).toEqual(meaning(events));
  });

  test.each(whole)('%s', (name) => {
    const body = JSON.parse(text(`${name}/response.json`)) as RecordedJson;
    const events = readWhole(body);
    expect(events.at(-1)).toEqual({ type: 'end' });
    expect(meaning(events)).toEqual(sumUp([body]));
  });

  test('calls decide the reason, whatever the word', () => {
    const message = foldEvents(readWhole(JSON.parse(text('tools-unary/response.json'))));
    expect([message.finish, message.blocks[0]?.start]).toEqual([
      { reason: 'tool-calls', native: 'stop' },
      { type: 'tool-call', id: 'call_cec4c19d27624537b583af', name: 'get_current_weather' },
    ]);
  });

  test('pages that were searched, and probabilities, are kept for those who know them', () => {
    const raw = (events: readonly ChatEvent[]): string => JSON.stringify(foldEvents(events).blocks.filter(({ start }) => start.type === 'raw'));
    expect(raw(readBytes(Buffer.from(text('search-sse/response.sse')), 1 << 20))).toContain('"url":"https://www.ip.cn/');
    expect(raw(readWhole(JSON.parse(text('logprobs/response.json'))))).toContain('top_logprobs');
  });

  test('errors', () => {
    expect(readError(401, {}, text('err-401/response.json'))).toMatchObject({ class: 'credential', code: 'InvalidApiKey' });
    expect(readError(400, {}, text('err-400-unary/response.json'))).toMatchObject({ class: 'caller', status: 400, code: 'InvalidParameter' });
    expect(readBytes(Buffer.from(text('err-sse-http200/response.sse')), 3)).toEqual([
      { type: 'error', error: expect.objectContaining({ class: 'caller', status: 400, code: 'InvalidParameter' }) },
    ]);
    expect(readWhole(JSON.parse(text('err-400-unary/response.json')))).toMatchObject([{ type: 'error', error: { class: 'caller' } }]);
  });

  test('the tokenizer', () => expect(readTokenCount(JSON.parse(text('tokenizer/response.json')))).toBe(3));
});

/** Several events as the one that a repeating model would send instead of the last of them. */
function asWhole(bodies: RecordedJson[]): RecordedJson {
  const { text, thinking, calls, finish } = sumUp(bodies);
  const last = bodies.at(-1);
  const message = {
    content: text,
    reasoning_content: thinking,
    tool_calls: calls.map((call, index) => ({ index, id: `call_${index}`, type: 'function', function: call })),
  };
  return { output: { choices: [{ message, finish_reason: finish }] }, usage: last.usage, request_id: last.request_id };
}
