/** Every recorded gamma exchange, read in place: replies fold, requests survive the way to an upstream body and back, verbatim edits find their places. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { applyEdits } from '@model-gateway/json-bytes';
import { createJsonArrayParser, createSseParser } from '@model-gateway/stream-framing';
import { describeRecorded } from '../../test/support/describe-recorded.ts';
import { recordingsFolder } from '../../test/support/recordings-folder.ts';
import { validateWhole } from '../../test/validate/gamma.ts';
import { foldEvents, type Message } from '../chat/fold.ts';
import { gamma } from './index.ts';
import { readerContext, replyContext, verbatimReplyContext, writeContext } from './test-support.ts';
import { readWhole } from './upstream/read-response.ts';

const folder = join(recordingsFolder, 'gamma');
const present = existsSync(folder);
const whereRecorded = describeRecorded(present, 'gamma');

interface Exchange {
  name: string;
  path: string;
  status: number;
  request: string | null;
  response: string | null;
  sse: boolean;
}

function exchangesOf(name: string): Exchange[] {
  const meta = JSON.parse(readFileSync(join(folder, name, 'meta.json'), 'utf8')) as {
    exchanges: { n: number; path: string; status: number; request?: { file?: string | null }; response?: { file?: string | null } }[];
  };
  const read = (file: string | null | undefined): string | null => (!file ? null : readFileSync(join(folder, name, file), 'utf8'));
  return meta.exchanges.map((exchange) => ({
    name: `${name} ${exchange.n}`,
    path: exchange.path,
    status: exchange.status,
    request: read(exchange.request?.file),
    response: read(exchange.response?.file),
    sse: exchange.response?.file?.endsWith('.sse') === true,
  }));
}

const exchanges = present ? readdirSync(folder).flatMap((name) => (existsSync(join(folder, name, 'meta.json')) ? exchangesOf(name) : [])) : [];
const generates = exchanges.filter((exchange) => !/embed|countTokens/i.test(exchange.path) && !exchange.name.startsWith('embed'));
const replies = generates.filter((exchange) => exchange.status === 200 && exchange.response !== null);

function recordsOf(exchange: Exchange): { data: string; json: unknown }[] {
  const bytes = Buffer.from(exchange.response!);
  if (exchange.sse) {
    const parser = createSseParser({ maxEventBytes: 1 << 26 });
    return [...parser.push(bytes), ...parser.finish()].map(({ data }) => ({ data, json: JSON.parse(data) as unknown }));
  }
  const parser = createJsonArrayParser({ maxElementBytes: 1 << 26 });
  return [...parser.push(bytes), ...parser.finish()].map((element) => ({ data: String(element.data), json: JSON.parse(String(element.data)) as unknown }));
}

const isStream = (exchange: Exchange): boolean => exchange.sse || exchange.response!.trimStart().startsWith('[');

function fold(exchange: Exchange): { message: Message; ended: boolean } {
  const events = isStream(exchange) ? [] : readWhole(JSON.parse(exchange.response!));
  if (isStream(exchange)) {
    const reader = gamma.upstream!.createReader(writeContext().target);
    for (const record of recordsOf(exchange)) events.push(...reader.read(record));
    events.push(...reader.finish());
  }
  return { message: foldEvents(events), ended: events.at(-1)?.type === 'end' };
}

const partsOf = (exchange: Exchange): Record<string, unknown>[] =>
  (isStream(exchange) ? recordsOf(exchange).map((record) => record.json) : [JSON.parse(exchange.response!) as unknown]).flatMap(
    (chunk) => (chunk as { candidates?: { content?: { parts?: Record<string, unknown>[] } }[] }).candidates?.[0]?.content?.parts ?? [],
  );

const textOf = (message: Message, type: string): string =>
  message.blocks
    .filter((block) => block.start.type === type)
    .map((block) => block.text)
    .join('');

whereRecorded('recorded replies', () => {
  test.each(replies)('$name folds to what was said', (exchange) => {
    const { message, ended } = fold(exchange);
    const parts = partsOf(exchange);
    const said = (thought: boolean): string =>
      parts
        .filter((part) => typeof part['text'] === 'string' && (part['thought'] === true) === thought)
        .map((part) => part['text'])
        .join('');
    expect(ended).toBe(true);
    expect(textOf(message, 'text')).toBe(said(false));
    expect(textOf(message, 'thinking')).toBe(said(true));
    const named = parts.flatMap((part) => (part['functionCall'] as { name?: string } | undefined)?.name ?? []);
    const calls = message.blocks.filter((block) => block.start.type === 'tool-call');
    expect(calls.map((block) => (block.start as { name: string }).name)).toEqual(named);
    for (const call of calls) expect(JSON.parse(call.text)).toBeInstanceOf(Object);
    expect(message.finish.reason === 'tool-calls').toBe(named.length > 0);
    expect(message.blocks.flatMap((block) => block.signature ?? [])).toEqual(parts.flatMap((part) => (part['thoughtSignature'] as string | undefined) ?? []));
  });

  test.each(replies)('$name: written whole, it is valid and reads the same', (exchange) => {
    const { message } = fold(exchange);
    const { body } = gamma.client!.writeWhole(message, replyContext('whole'));
    expect(validateWhole(JSON.parse(JSON.stringify(body)))).toEqual([]);
    const again = foldEvents(readWhole(JSON.parse(JSON.stringify(body))));
    // A tier that only its vendor has is written nowhere.
    expect({ ...again.usage, serviceTier: undefined }).toEqual({ ...message.usage, serviceTier: undefined });
    expect(again.finish.reason).toBe(message.finish.reason);
    expect(textOf(again, 'text')).toBe(textOf(message, 'text'));
  });

  test.each(replies)('$name: verbatim edits change only the model name and the signatures', (exchange) => {
    const reply = gamma.upstream!.verbatim!.createReply(verbatimReplyContext());
    for (const { data, json } of recordsOf(
      exchange.sse ? exchange : { ...exchange, response: isStream(exchange) ? exchange.response! : `[${exchange.response!}]` },
    )) {
      const edits = reply.record({ data, json });
      expect(edits).not.toBe('drop');
      const edited = applyEdits(data, edits as Exclude<typeof edits, 'drop'>);
      expect(edited).toContain('"caller/name"');
      const undone = edited.replace('"caller/name"', JSON.stringify((json as { modelVersion: string }).modelVersion)).replaceAll('c2VhbGVk', '');
      expect(undone).toBe(data);
    }
  });
});

whereRecorded('recorded requests', () => {
  test.each(generates.filter((exchange) => exchange.request !== null))('$name is read, and read again after it was written', (exchange) => {
    const body = JSON.parse(exchange.request!) as unknown;
    const first = gamma.client!.readRequest(body, readerContext());
    const written = gamma.upstream!.writeRequest(first.conversation, writeContext());
    const second = gamma.client!.readRequest(JSON.parse(JSON.stringify(written.body)), readerContext());
    const words = (request: typeof first): unknown =>
      request.conversation.turns.map((turn) => [turn.role, turn.parts.filter((part) => part.type !== 'thinking').map(summary)]);
    expect(words(second)).toEqual(words(first));
    expect(second.conversation.tools.map((tool) => tool.name)).toEqual(first.conversation.tools.map((tool) => tool.name));
    expect(second.conversation.tools.map((tool) => (tool.parameters as { required?: string[] } | undefined)?.required ?? [])).toEqual(
      first.conversation.tools.map((tool) => (tool.parameters as { required?: string[] } | undefined)?.required ?? []),
    );
    expect(second.conversation.output).toEqual(first.conversation.output);
    expect(second.conversation.sampling).toEqual(first.conversation.sampling);
    expect(second.conversation.toolChoice).toEqual(first.conversation.toolChoice);
  });

  function summary(part: { type: string; text?: string; name?: string; id?: string; data?: string; content?: { type: string; data?: string }[] }): unknown {
    return [part.type, part.text, part.name, part.id, part.data?.length, part.content?.map((item) => [item.type, item.data?.length])];
  }
});

whereRecorded('recorded errors and counts', () => {
  const errors = exchanges.filter((exchange) => exchange.status >= 400);

  test.each(errors)('$name', ({ name, status, response }) => {
    const fault = gamma.upstream!.readError(status, {}, response!);
    const classes: Record<string, string> = {
      'err-400-field 1': 'caller',
      'err-400-key 1': 'credential',
      'err-404 1': 'not-found',
      'err-429-retryinfo 1': 'rate',
    };
    expect([name, fault.class]).toEqual([name, classes[name]]);
    if (fault.class === 'rate') expect(fault.retryAfterMs).toBe(48_000);
    expect(gamma.upstream!.readError(status, {}, `[${response}]`)).toEqual(fault);
  });

  test.each(exchanges.filter((exchange) => exchange.path.endsWith(':countTokens')))('$name', ({ request, response }) => {
    expect(gamma.upstream!.readTokenCount(JSON.parse(response!))).toBe((JSON.parse(response!) as { totalTokens: number }).totalTokens);
    const { conversation } = gamma.client!.readRequest(JSON.parse(request!), { ...readerContext(), operation: 'count-tokens' });
    const { body } = gamma.upstream!.writeRequest(conversation, { ...writeContext(), operation: 'count-tokens' });
    expect(body).toMatchObject({ generateContentRequest: { model: 'models/gemini-3-flash', contents: [{ role: 'user' }] } });
  });
});
