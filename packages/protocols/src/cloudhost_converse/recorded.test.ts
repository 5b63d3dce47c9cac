/** Every recorded reply of this protocol reads well, and every recorded request's words can be written again. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createEventStreamParser } from '@model-gateway/stream-framing';
import { describeRecorded } from '../../test/support/describe-recorded.ts';
import { recordingsFolder } from '../../test/support/recordings-folder.ts';
import type { ChatEvent } from '../chat/event.ts';
import { foldEvents, type Message } from '../chat/fold.ts';
import { cloudhostConverse } from './index.ts';

const folder = join(recordingsFolder, 'cloudhost_converse');
const door = cloudhostConverse.upstream!;
const target = {
  baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  directPath: false,
  upstreamModelId: 'm',
  neutralHeaders: false,
  extraConfig: null,
};

// biome-ignore lint/suspicious/noExplicitAny: recordings are read freely.
type Json = any;
interface Exchange {
  name: string;
  n: number;
  status: number;
  file: string;
  headers: Record<string, string>;
  body: Buffer;
}

const exchanges: Exchange[] = (existsSync(folder) ? readdirSync(folder) : []).flatMap((name) => {
  const meta = JSON.parse(readFileSync(join(folder, name, 'meta.json'), 'utf8')) as Json;
  return (meta.exchanges ?? []).map((one: Json) => ({
    name,
    n: one.n,
    status: one.status,
    file: one.response.file,
    headers: one.response.headers,
    body: readFileSync(join(folder, name, one.response.file)),
  }));
});
const isStream = ({ file }: Exchange): boolean => file.endsWith('.bin');

function readEvents(exchange: Exchange, cut = exchange.body.length): ChatEvent[] {
  if (!isStream(exchange)) return door.readWhole(JSON.parse(exchange.body.toString('utf8')), target);
  const parser = createEventStreamParser({ maxMessageBytes: 1 << 24 });
  const reader = door.createReader(target);
  const records = [...parser.push(exchange.body.subarray(0, cut)), ...parser.push(exchange.body.subarray(cut)), ...parser.finish()];
  const events = records.flatMap((record) => reader.read({ ...record, json: JSON.parse(record.data) as unknown }));
  return [...events, ...reader.finish()];
}

/** The recording, read without the reader. */
function oracle(exchange: Exchange): { text: string; thinking: string; calls: { name: string; args: unknown }[]; stop: string; output: number } {
  const out = { text: '', thinking: '', calls: [] as { name: string; args: unknown; json?: string }[], stop: '', output: 0 };
  if (!isStream(exchange)) {
    const body = JSON.parse(exchange.body.toString('utf8')) as Json;
    for (const block of body.output.message.content) {
      out.text += block.text ?? (block.citationsContent?.content ?? []).map((part: Json) => part.text).join('');
      out.thinking += block.reasoningContent?.reasoningText?.text ?? '';
      if (block.toolUse && block.toolUse.type !== 'server_tool_use') out.calls.push({ name: block.toolUse.name, args: block.toolUse.input });
    }
    return { ...out, stop: body.stopReason, output: body.usage.outputTokens };
  }
  const calls = new Map<number, { name: string; args: unknown; json: string }>();
  for (const { event, data } of createEventStreamParser({ maxMessageBytes: 1 << 24 }).push(exchange.body)) {
    const json = JSON.parse(data) as Json;
    if (event === 'contentBlockStart' && json.start.toolUse && json.start.toolUse.type !== 'server_tool_use') {
      const call = { name: json.start.toolUse.name, args: {}, json: '' };
      calls.set(json.contentBlockIndex, call);
      out.calls.push(call);
    }
    out.text += json.delta?.text ?? '';
    out.thinking += json.delta?.reasoningContent?.text ?? '';
    const call = calls.get(json.contentBlockIndex);
    if (call && json.delta?.toolUse) call.json += json.delta.toolUse.input;
    if (event === 'messageStop') out.stop = json.stopReason;
    if (event === 'metadata') out.output = json.usage.outputTokens;
  }
  for (const call of calls.values()) call.args = JSON.parse(call.json || '{}');
  return { ...out, calls: out.calls.map(({ name, args }) => ({ name, args })) };
}

const textOf = (message: Message, kind: string): string => message.blocks.flatMap((block) => (block.start.type === kind ? [block.text] : [])).join('');

const whereRecorded = describeRecorded(exchanges.length > 0, 'cloudhost_converse');
whereRecorded('recorded replies', () => {
  test('are all there', () => expect(exchanges.length).toBeGreaterThan(50));

  test.each(exchanges.filter(({ status }) => status === 200))('$name/$n', (exchange) => {
    const events = readEvents(exchange);
    expect(events.at(-1)).toEqual({ type: 'end' });
    const message = foldEvents(events);
    const expected = oracle(exchange);
    expect({
      text: textOf(message, 'text'),
      thinking: textOf(message, 'thinking'),
      calls: message.blocks.flatMap(({ start, text }) => (start.type === 'tool-call' ? [{ name: start.name, args: JSON.parse(text || '{}') as unknown }] : [])),
      stop: message.finish.native,
      output: message.usage.output,
    }).toEqual(expected);
    const open = new Set<number>();
    for (const event of events) {
      if (event.type === 'block-start') open.add(event.index);
      else if (event.type === 'block-end') expect(open.delete(event.index)).toBe(true);
      else if (event.type === 'finish') expect(open.size).toBe(0);
    }
  });

  test.each(exchanges.filter((exchange) => exchange.status === 200 && isStream(exchange)))('$name/$n: cut anywhere, the same', (exchange) => {
    const expected = readEvents(exchange);
    for (let at = 1; at < 40; at++) expect(readEvents(exchange, Math.floor((exchange.body.length * at) / 40) + (at % 7))).toEqual(expected);
  });

  test('thinking comes with its signature, and opaque thinking whole', () => {
    const find = (name: string) => exchanges.find((exchange) => exchange.name === name)!;
    const thought = foldEvents(readEvents(find('thinking-stream'))).blocks[0]!;
    expect(thought.start.type).toBe('thinking');
    expect(thought.signature!.length).toBeGreaterThan(100);
    const opaque = foldEvents(readEvents(find('redacted-thinking-stream'))).blocks.map(({ start }) => start);
    expect(opaque.map(({ type }) => type)).toEqual(['redacted-thinking', 'redacted-thinking', 'text']);
    const cached = exchanges.filter(({ name }) => name === 'cache-write-read').map((exchange) => foldEvents(readEvents(exchange)).usage);
    expect(cached[0]!.cacheWrite5m).toBeGreaterThan(0);
    expect(cached[1]!.cacheRead).toBeGreaterThan(0);
  });

  test.each([
    ['err-400-model', 'caller'],
    ['err-400-too-long', 'context'],
    ['err-403', 'credential'],
  ])('%s is %s', (name, kind) => {
    const { status, headers, body } = exchanges.find((exchange) => exchange.name === name)!;
    expect(door.readError(status, headers, body.toString('utf8'))).toMatchObject({ status, message: expect.stringMatching(/\w{4}/) });
    const fault = door.readError(status, headers, body.toString('utf8')).class;
    expect(name === 'err-400-model' ? ['caller', 'not-found'] : [kind]).toContain(fault);
  });
});
