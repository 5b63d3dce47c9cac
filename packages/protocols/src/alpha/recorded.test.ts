/** Every recorded exchange of this protocol: requests survive our reader and writer, replies mean what was recorded, streamed and written again. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createSseParser } from '@model-gateway/stream-framing';
import { describeRecorded } from '../../test/support/describe-recorded.ts';
import { recordingsFolder } from '../../test/support/recordings-folder.ts';
import { validateStream } from '../../test/validate/alpha.ts';
import type { ChatEvent } from '../chat/event.ts';
import { foldEvents, type Message, unfoldMessage } from '../chat/fold.ts';
import type { ReplyContext, WriteRequestContext } from '../contract/index.ts';
import { readRequest } from './client/read-request.ts';
import { AlphaTerminator } from './client/stream-terminator.ts';
import { AlphaWriter, writeWhole } from './client/write-response.ts';
import { readError } from './shared/errors.ts';
import { AlphaReader, readWhole } from './upstream/read-response.ts';
import { writeRequest } from './upstream/write-request.ts';

const folder = join(recordingsFolder, 'alpha');
const present = existsSync(folder);

const files = present ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort() : [];
const ofKind = (pattern: RegExp) => files.filter((file) => pattern.test(file)).map((file) => ({ file }));
const text = (file: string) => readFileSync(join(folder, file), 'utf8');

function minter() {
  let next = 0;
  return (prefix: string) => `${prefix}${++next}`;
}
const replyContext = (): ReplyContext => ({
  requestId: 'r',
  model: 'm',
  createdAt: 1,
  now: () => 2,
  streamForm: 'sse',
  mintId: minter(),
  sealSignature: (signature) => signature,
  echo: { includeUsage: true, legacyFunctions: false },
  inputEstimate: 0,
});
const requestContext = (model: string, stream: boolean): WriteRequestContext => ({
  target: { baseUrl: 'https://h', directPath: false, upstreamModelId: model, neutralHeaders: false, extraConfig: null },
  operation: 'generate',
  stream,
  openSignature: (sealed) => sealed,
  mintId: minter(),
});

function readStream(body: string): ChatEvent[] {
  const parser = createSseParser({ maxEventBytes: 1 << 22 });
  const reader = new AlphaReader();
  const records = [...parser.push(new TextEncoder().encode(body)), ...parser.finish()];
  return [
    ...records.flatMap(({ event, data }) => reader.read({ event, data, json: data === '[DONE]' ? undefined : (JSON.parse(data) as unknown) })),
    ...reader.finish(),
  ];
}

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON has every shape there is, and a wrong guess fails the test
type RecordedJson = any;

interface Recorded {
  text: string;
  thinking: string;
  calls: string[];
}

/** What the recording says, added up without any of our code. */
function sumUp(chunks: RecordedJson[]): Recorded {
  const sum: Recorded = { text: '', thinking: '', calls: [] };
  const calls: { name: string; arguments: string }[] = [];
  for (const chunk of chunks) {
    const choice = (chunk['choices'] ?? []).find((candidate: RecordedJson) => (candidate.index ?? 0) === 0);
    const message = choice?.delta ?? choice?.message ?? {};
    for (const part of Array.isArray(message.content) ? message.content : [{ text: message.content ?? '' }]) {
      if (part.thinking) sum.thinking += part.thinking.map((inner: RecordedJson) => inner.text).join('');
      else sum.text += part.text;
    }
    sum.text += message.refusal ?? '';
    sum.thinking += message.reasoning_content ?? message.reasoning ?? '';
    for (const [position, call] of (message.tool_calls ?? []).entries()) {
      const body = call.function ?? call.custom;
      const known = calls[call.index ?? position] ?? { name: '', arguments: '' };
      calls[call.index ?? position] = known;
      known.name ||= body.name ?? '';
      known.arguments += body.arguments ?? body.input ?? '';
    }
  }
  sum.calls = calls.filter(Boolean).map((call) => `${call.name} ${call.arguments}`);
  return sum;
}

const meaning = (message: Message): Recorded => ({
  text: message.blocks
    .filter((block) => block.start.type === 'text' || block.start.type === 'refusal')
    .map((block) => block.text)
    .join(''),
  thinking: message.blocks
    .filter((block) => block.start.type === 'thinking')
    .map((block) => block.text)
    .join(''),
  calls: message.blocks.flatMap((block) => (block.start.type === 'tool-call' ? [`${block.start.name} ${block.text}`] : [])),
});

describeRecorded(present, 'alpha')('recorded traffic', () => {
  test('is here', () => expect(files.length).toBeGreaterThan(100));

  describe('requests', () => {
    test.each(ofKind(/request\.json$/))('$file', ({ file }) => {
      const body = JSON.parse(text(file)) as RecordedJson;
      const read = readRequest(body, { path: '', operation: 'generate', streamForm: body['stream'] ? 'sse' : 'whole', headers: {} });
      const written = writeRequest(read.conversation, requestContext(body['model'], body['stream'] === true));
      const back = readRequest(JSON.parse(JSON.stringify(written.body)), {
        path: '',
        operation: 'generate',
        streamForm: body['stream'] ? 'sse' : 'whole',
        headers: {},
      });
      const lost = new Set([...read.losses, ...written.losses].map((loss) => loss.field));
      expect([...lost].filter((field) => /^messages\.(?!reasoning)|^tools|^tool_choice/.test(field))).toEqual([]);
      const out = written.body as RecordedJson;
      expect(out['model']).toBe(body['model']);
      expect((out['tools'] ?? []).map((tool: RecordedJson) => tool.function ?? tool.custom ?? tool)).toEqual(
        (body['tools'] ?? []).map((tool: RecordedJson) => tool.function ?? tool.custom ?? tool),
      );
      // An assistant message without anything in it says nothing, and several leading system messages become one.
      const said = (messages: RecordedJson[]): string[] =>
        messages
          .filter((message) => message.role !== 'assistant' || message.content || message.tool_calls)
          .map(saidBy)
          .filter((role, index, all) => role !== 'system' || all[index - 1] !== 'system');
      const saidBy = (message: RecordedJson): string => (message.role === 'developer' ? 'system' : message.role);
      if (!lost.has('tool_result.media')) expect(said(out['messages'])).toEqual(said(body['messages']));
      expect(back.conversation.tools).toEqual(read.conversation.tools);
      expect(back.conversation.toolChoice).toEqual(read.conversation.toolChoice);
      if (!lost.has('tool_result.media') && !lost.has('messages.reasoning'))
        expect(back.conversation.turns).toEqual(read.conversation.turns.filter((turn) => turn.parts.length > 0));
    });
  });

  describe('streams', () => {
    test.each(ofKind(/response\.sse$/))('$file', ({ file }) => {
      const body = text(file);
      const events = readStream(body);
      const chunks = body
        .split('\n')
        .filter((line) => line.startsWith('data: {'))
        .map((line) => JSON.parse(line.slice(6)) as RecordedJson);
      const message = foldEvents(events.filter((event) => event.type !== 'error'));
      expect(meaning(message)).toEqual(sumUp(chunks));
      const broken = /^event: error/m.test(body);
      expect(events.at(-1)?.type).toBe(broken ? 'error' : 'end');
      if (broken) return;
      const total = chunks.map((chunk) => chunk['usage']?.total_tokens).findLast((count) => count !== undefined);
      const { input, audioInput = 0, cacheRead, cacheWrite5m, output, audioOutput = 0, reasoning } = message.usage;
      if (total !== undefined) expect(input + audioInput + cacheRead + cacheWrite5m + output + audioOutput + reasoning).toBe(total);
      const writer = new AlphaWriter(replyContext());
      const again = events.map((event) => writer.write(event)).join('');
      expect(validateStream(again)).toEqual([]);
      const second = foldEvents(readStream(again));
      expect(meaning(second)).toEqual({ ...meaning(message), calls: meaning(message).calls.map((call) => (call.endsWith(' ') ? `${call}{}` : call)) });
      expect(second.usage).toEqual(message.usage);
      expect(second.finish.reason).toBe(message.finish.reason);
    });

    test.each(ofKind(/response\.sse$/))('$file can be closed after every event of the original', ({ file }) => {
      const pieces = text(file).split(/(?<=\r?\n\r?\n)/);
      const encoder = new TextEncoder();
      for (let count = 0; count <= Math.min(pieces.length, 60); count++) {
        const terminator = new AlphaTerminator({ requestId: 'r', model: 'm', createdAt: 1, streamForm: 'sse', mintId: minter() });
        for (const piece of pieces.slice(0, count)) terminator.observe(encoder.encode(piece));
        const closing = terminator.close({ reason: 'upstream_broken', detail: 'x', timestamp: 't' });
        const over = pieces.slice(0, count).some((piece) => piece.startsWith('data: [DONE]'));
        // One recording lacks the last blank line: all that is missing there.
        expect(closing.trim() === '').toBe(over);
        if (!over) expect(closing.endsWith('data: [DONE]\n\n')).toBe(true);
      }
    });
  });

  describe('whole replies', () => {
    test.each(ofKind(/response\.json$/).filter(({ file }) => !('error' in (JSON.parse(text(file)) as object))))('$file', ({ file }) => {
      const body = JSON.parse(text(file)) as RecordedJson;
      const message = foldEvents(readWhole(body));
      expect(readWhole(body).at(-1)?.type).toBe('end');
      expect(meaning(message)).toEqual(sumUp([body]));
      const { input, audioInput = 0, cacheRead, cacheWrite5m, output, audioOutput = 0, reasoning } = message.usage;
      expect(input + audioInput + cacheRead + cacheWrite5m + output + audioOutput + reasoning).toBe(body['usage'].total_tokens);
      const whole = foldEvents(readWhole(JSON.parse(JSON.stringify(writeWhole(message, replyContext()).body))));
      expect(meaning(whole)).toEqual(meaning(message));
      expect(whole.usage).toEqual(message.usage);
      const writer = new AlphaWriter(replyContext());
      expect(
        validateStream(
          unfoldMessage(message)
            .map((event) => writer.write(event))
            .join(''),
        ),
      ).toEqual([]);
    });
  });

  test.each([
    ['err-400-context-length/response.json', 400, 'context'],
    ['err-400-unsupported/response.json', 400, 'caller'],
    ['err-401/response.json', 401, 'credential'],
    ['err-404-model/response.json', 404, 'not-found'],
    ['err-429-retry-after/response.json', 429, 'rate'],
    ['tools-error-400-then-retry/1.response.json', 400, 'model'],
  ])('error %s', (file, status, expected) => expect(readError(status, {}, text(file)).class).toBe(expected));
});
