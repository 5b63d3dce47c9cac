/** Every recorded reply of this protocol is read without errors, for every vendor's models. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createEventStreamParser } from '@model-gateway/stream-framing';
import { describeRecorded } from '../../test/support/describe-recorded.ts';
import { recordingsFolder } from '../../test/support/recordings-folder.ts';
import type { ChatEvent } from '../chat/event.ts';
import { foldEvents } from '../chat/fold.ts';
import type { Target } from '../contract/index.ts';
import { cloudhostInvoke } from './index.ts';

const folder = join(recordingsFolder, 'cloudhost_invoke');
const door = cloudhostInvoke.upstream!;
/** Not chat: other protocols read them. */
const notChat = new Set(['cohere-embedding', 'cohere-rerank', 'titan-embedding']);

// biome-ignore lint/suspicious/noExplicitAny: recordings are read freely.
type Json = any;
interface Exchange {
  name: string;
  n: number;
  status: number;
  file: string;
  headers: Record<string, string>;
  body: Buffer;
  target: Target;
}

const exchanges: Exchange[] = (existsSync(folder) ? readdirSync(folder) : []).flatMap((name) => {
  const meta = JSON.parse(readFileSync(join(folder, name, 'meta.json'), 'utf8')) as Json;
  if (notChat.has(name)) return [];
  return meta.exchanges.map((one: Json) => ({
    name,
    n: one.n,
    status: one.status,
    file: one.response.file,
    headers: one.response.headers,
    body: readFileSync(join(folder, name, one.response.file)),
    target: {
      baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
      directPath: false,
      upstreamModelId: decodeURIComponent(/\/model\/([^/]+)\//.exec(one.path)?.[1] ?? ''),
      neutralHeaders: false,
      extraConfig: null,
    },
  }));
});
const isStream = ({ file }: Exchange): boolean => file.endsWith('.bin');

function readEvents(exchange: Exchange, cut = exchange.body.length): ChatEvent[] {
  if (!isStream(exchange)) return door.readWhole(JSON.parse(exchange.body.toString('utf8')), exchange.target);
  const parser = createEventStreamParser({ maxMessageBytes: 1 << 24 });
  const reader = door.createReader(exchange.target);
  const records = [...parser.push(exchange.body.subarray(0, cut)), ...parser.push(exchange.body.subarray(cut)), ...parser.finish()];
  const events = records.map((record) => door.unwrapRecord!(record)).flatMap((record) => reader.read({ ...record, json: JSON.parse(record.data) as unknown }));
  return [...events, ...reader.finish()];
}

/** Text and arguments of the recording, in whatever vendor's words. */
function wordsOf(exchange: Exchange): string {
  const inner: Json[] = isStream(exchange)
    ? createEventStreamParser({ maxMessageBytes: 1 << 24 })
        .push(exchange.body)
        .map(({ data }) => JSON.parse(Buffer.from((JSON.parse(data) as Json).bytes, 'base64').toString('utf8')))
    : [JSON.parse(exchange.body.toString('utf8'))];
  return inner
    .map(
      (json) =>
        json.delta?.text ??
        json.contentBlockDelta?.delta?.text ??
        json.generation ??
        json.outputText ??
        (json.content ?? []).map((block: Json) => block.text ?? '').join(''),
    )
    .join('');
}

const whereRecorded = describeRecorded(exchanges.length > 0, 'cloudhost_invoke');
whereRecorded('recorded replies', () => {
  test.each(exchanges.filter(({ status }) => status === 200))('$name/$n', (exchange) => {
    const events = readEvents(exchange);
    expect(events.at(-1)).toEqual({ type: 'end' });
    const message = foldEvents(events);
    expect(message.blocks.flatMap(({ start, text }) => (start.type === 'text' ? [text] : [])).join('')).toBe(wordsOf(exchange));
    expect(message.finish.reason).not.toBe('other');
    expect(message.usage.output).toBeGreaterThan(0);
    expect(message.usage.input + message.usage.cacheRead + message.usage.cacheWrite5m + message.usage.cacheWrite1h).toBeGreaterThan(0);
    for (const { start, text } of message.blocks) if (start.type === 'tool-call') expect(JSON.parse(text)).toBeInstanceOf(Object);
    for (let at = 1; at < 20; at++) expect(readEvents(exchange, Math.floor((exchange.body.length * at) / 20))).toEqual(events);
  });

  test('finishes and counts of each vendor', () => {
    const find = (name: string) => foldEvents(readEvents(exchanges.find((exchange) => exchange.name === name)!));
    expect(find('llama-stream')).toMatchObject({ finish: { reason: 'length' }, usage: { input: 10, output: 60 } });
    expect(find('titan-stream')).toMatchObject({ finish: { reason: 'length' }, usage: { input: 5, output: 10 } });
    expect(find('guardrail-stream')).toMatchObject({ finish: { reason: 'content-filter' }, usage: { input: 6, output: 3 } });
    expect(find('nova-tools-stream')).toMatchObject({ finish: { reason: 'tool-calls' }, usage: { input: 427, output: 156 } });
    expect(find('claude-tools-stream').blocks.filter(({ start }) => start.type === 'tool-call').length).toBeGreaterThan(0);
    expect(find('claude-cache').usage.cacheWrite5m + find('claude-cache').usage.cacheRead).toBeGreaterThan(0);
  });

  test('a refused model is the caller’s or not found, in the host’s words', () => {
    const { status, headers, body } = exchanges.find(({ name }) => name === 'err-400')!;
    expect(door.readError(status, headers, body.toString('utf8'))).toMatchObject({ class: 'not-found', code: 'ValidationException' });
  });
});
