/**
 * What each codec costs: time of one thread per streamed event and per kilobyte of the wire, for reading an upstream's stream, writing a caller's,
 * passing one verbatim and watching it at the edge; and per kilobyte of a request body. No network, no processes: `node bench/codecs.ts [--ms 300]`.
 */
import { parseArgs } from 'node:util';
import { applyEdits } from '@model-gateway/json-bytes';
import type { ChatEvent, Conversation, FramedRecord, Part, StreamRecord, VerbatimReplyContext, VerbatimRules } from '@model-gateway/protocols';
import { createEventStreamParser, createSseParser } from '@model-gateway/stream-framing';
import {
  echoOf,
  play,
  readStream,
  replyContext,
  type Speaker,
  speakers,
  terminatorContext,
  type Upstream,
  upstreams,
  writeContext,
} from '../packages/protocols/test/laws/harness.ts';

const { values } = parseArgs({ options: { ms: { type: 'string', default: '300' } } });
const budgetMs = Number(values.ms);
const fewestRuns = 20;
const chunkBytes = 1024;

/** An answer as agents get it: some thinking, a page of text, and a call with long arguments, in pieces of a few tokens. */
function answer(): ChatEvent[] {
  const pieces = (count: number, text: (at: number) => string): string[] => Array.from({ length: count }, (_, at) => text(at));
  const block = (
    index: number,
    start: Extract<ChatEvent, { type: 'block-start' }>['block'],
    type: 'thinking-delta' | 'text-delta' | 'arguments-delta',
    texts: string[],
  ): ChatEvent[] => [{ type: 'block-start', index, block: start }, ...texts.map((text): ChatEvent => ({ type, index, text })), { type: 'block-end', index }];
  return [
    { type: 'start', id: 'upstream-1', model: 'real-model', createdAt: 1_700_000_000 },
    ...block(
      0,
      { type: 'thinking' },
      'thinking-delta',
      pieces(60, (at) => ` step ${at} of it`),
    ),
    ...block(
      1,
      { type: 'text' },
      'text-delta',
      pieces(200, (at) => ` word ${at}, grün "x"`),
    ),
    ...block(2, { type: 'tool-call', id: 'call_1', name: 'write_file' }, 'arguments-delta', ['{"text":"', ...pieces(140, (at) => `line ${at}\\\\n`), '"}']),
    { type: 'finish', reason: 'tool-calls' },
    { type: 'usage', usage: { input: 5000, cacheRead: 4000, cacheWrite5m: 0, cacheWrite1h: 0, output: 900, reasoning: 0 } },
    { type: 'end' },
  ];
}
const events = answer();

/** A session of an agent: a long system text, tools, forty turns of calls and results. */
function session(): Conversation {
  const turns = Array.from({ length: 40 }, (_, at): Conversation['turns'][number] => {
    const id = `toolu_${at >> 1}`;
    const call: Part = { type: 'tool-call', id, name: 'read_file', arguments: JSON.stringify({ path: `src/file-${at}.ts`, lines: [at, at + 40] }) };
    const result: Part = { type: 'tool-result', callId: id, name: 'read_file', content: [{ type: 'text', text: `const line${at} = "x";\n`.repeat(60) }] };
    return at % 2 === 0 ? { role: 'assistant', parts: [{ type: 'text', text: 'I will look.' }, call] } : { role: 'user', parts: [result] };
  });
  return {
    system: [{ text: 'You are a careful engineer. '.repeat(200) }],
    turns: [{ role: 'user', parts: [{ type: 'text', text: 'Mend it.' }] }, ...turns],
    tools: ['read_file', 'write_file', 'run'].map((name) => ({
      type: 'function',
      name,
      description: 'One of three tools. '.repeat(20),
      parameters: { type: 'object', properties: { path: { type: 'string' }, lines: { type: 'array', items: { type: 'integer' } } }, required: ['path'] },
    })),
    sampling: { maxTokens: 4096 },
    stream: true,
  };
}

/**
 * Microseconds of one run of `work`: the lower quartile of many runs. Each is shorter than a slice of the scheduler, so that the quicker ones were
 * not interrupted, however busy the machine is; the accounting of CPU time is too coarse for them on many kernels.
 */
function cost(work: () => void): number {
  for (const until = performance.now() + budgetMs / 2; performance.now() < until; ) work();
  const runs: number[] = [];
  for (let at = performance.now(), until = at + budgetMs; at < until || runs.length < fewestRuns; ) {
    work();
    const now = performance.now();
    runs.push(now - at);
    at = now;
  }
  return (runs.sort((a, b) => a - b)[runs.length >> 2] ?? 0) * 1000;
}

/** The stream's records, framed and taken out of a host's envelope, as the pump gets them. */
function recordsOf(upstream: Upstream, bytes: Uint8Array): FramedRecord[] {
  const seen: FramedRecord[] = [];
  const reader = {
    read(record: StreamRecord): ChatEvent[] {
      seen.push(record as FramedRecord);
      return [];
    },
    finish: (): ChatEvent[] => [],
  };
  readStream({ upstream: { ...upstream.upstream, createReader: () => reader }, target: upstream.target }, [bytes]);
  return seen;
}

/** Bytes to records, as they come from a socket: a few events in each chunk. */
function frame({ upstream }: Upstream, bytes: Uint8Array): void {
  const source = upstream.framing === 'event-stream' ? createEventStreamParser({ maxMessageBytes: 1 << 20 }) : createSseParser({ maxEventBytes: 1 << 20 });
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    for (const record of source.push(bytes.subarray(at, at + chunkBytes))) upstream.unwrapRecord?.(record);
  }
  source.finish();
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

const row = (entries: readonly string[]): string => `| ${entries.join(' | ')} |`;
const figure = (value: number): string => (value < 0.005 ? '<0.01' : value.toFixed(2));
const both = (micros: number, count: number, bytes: number): string[] => [figure(micros / count), figure(micros / (bytes / 1024))];

function readerRow(upstream: Upstream): string {
  const bytes = play(upstream, events);
  const records = recordsOf(upstream, bytes);
  const reading = cost(() => {
    const reader = upstream.upstream.createReader(upstream.target);
    for (const record of records) reader.read({ ...record, json: parse(record.data) });
    reader.finish();
  });
  const framing = cost(() => frame(upstream, bytes));
  const rules = upstream.upstream.verbatim;
  const passing = rules
    ? both(
        cost(() => pass(upstream, rules, records)),
        records.length,
        bytes.length,
      )
    : ['–', '–'];
  return row([
    upstream.id,
    String(records.length),
    (bytes.length / 1024).toFixed(0),
    ...both(framing, records.length, bytes.length),
    ...both(reading, records.length, bytes.length),
    ...passing,
  ]);
}

const verbatimContext: VerbatimReplyContext = {
  model: 'client-model',
  mintId: (prefix) => `${prefix}minted`,
  sealSignature: (signature) => signature,
  requestValue: () => undefined,
};

/** The translator's part of the verbatim passage: read for the row, and edit where a name or an id must change. */
function pass(upstream: Upstream, rules: VerbatimRules, records: readonly FramedRecord[]): void {
  const reader = upstream.upstream.createReader(upstream.target);
  const reply = rules.createReply(verbatimContext);
  for (const framed of records) {
    const record = { ...framed, json: parse(framed.data) };
    reader.read(record);
    const edits = reply.record(record);
    if (edits !== 'drop' && edits.length > 0) applyEdits(record.data, edits);
  }
}

function writerRow(client: Speaker): string {
  const echo = echoOf(client);
  const write = (): string[] => {
    const writer = client.client.createWriter(replyContext(echo));
    return events.map((event) => writer.write(event)).filter((piece) => piece !== '');
  };
  const pieces = write();
  const wire = pieces.map((piece) => Buffer.from(piece, 'utf8'));
  const size = wire.reduce((sum, piece) => sum + piece.length, 0);
  const watching = cost(() => {
    const closer = client.client.createTerminator(terminatorContext());
    for (const piece of wire) closer.observe(piece);
  });
  return row([client.id, String(pieces.length), (size / 1024).toFixed(0), ...both(cost(write), pieces.length, size), ...both(watching, pieces.length, size)]);
}

const perKilobyte = (micros: number, text: string): string => figure(micros / (Buffer.byteLength(text) / 1024));

/** Both ways of a request body, per kilobyte of this protocol's own JSON. */
function requestRow(upstream: Upstream): string {
  const conversation = session();
  const text = JSON.stringify(upstream.upstream.writeRequest(conversation, writeContext(true, upstream.target)).body);
  const writing = cost(() => void JSON.stringify(upstream.upstream.writeRequest(conversation, writeContext(true, upstream.target)).body));
  const client = speakers.find(({ id }) => id === upstream.id)?.client;
  const reading =
    client && cost(() => void client.readRequest(JSON.parse(text), { path: '', operation: 'generate', model: 'm', streamForm: 'sse', headers: {} }));
  const { verbatim } = upstream.upstream;
  const context = { ...writeContext(true, upstream.target), contains: (part: string) => text.includes(part), parse: () => JSON.parse(text) as unknown };
  const editing = verbatim && client && cost(() => void applyEdits(text, verbatim.requestEdits(context).edits));
  const shown = (micros: number | undefined): string => (micros === undefined ? '–' : perKilobyte(micros, text));
  return row([upstream.id, (text.length / 1024).toFixed(0), shown(reading), shown(writing), shown(editing)]);
}

const table = (heads: readonly string[], rows: readonly string[]): string => [row(heads), row(heads.map(() => '---')), ...rows].join('\n');
const unit = (name: string): string[] => [`${name} µs/event`, 'µs/KB'];

process.stdout.write(`${table(['upstream', 'events', 'KB', ...unit('framing'), ...unit('reader'), ...unit('verbatim')], upstreams.map(readerRow))}\n\n`);
process.stdout.write(`${table(['client', 'events', 'KB', ...unit('writer'), ...unit('edge’s watch')], speakers.map(writerRow))}\n\n`);
process.stdout.write(`${table(['request', 'KB', 'caller read µs/KB', 'upstream written µs/KB', 'verbatim µs/KB'], upstreams.map(requestRow))}\n`);
