/** Citations of Bedrock Converse, as recorded, in the reply of a messages caller. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { ProtocolId } from '@model-gateway/contracts';
import { createEventStreamParser } from '@model-gateway/stream-framing';
import { replyContext } from '../../../test/support/beta.ts';
import { describeRecorded } from '../../../test/support/describe-recorded.ts';
import { recordingsFolder } from '../../../test/support/recordings-folder.ts';
import { foldEvents } from '../../chat/fold.ts';
import { cloudhostConverse } from '../../cloudhost_converse/index.ts';
import type { UpstreamAdapter } from '../../contract/index.ts';
import { fitToModel } from '../../kit/fit-to-model.ts';
import { findProtocol } from '../../registry.ts';
import { readRequest } from '../shared/read-request.ts';
import { readCitation } from './citations.ts';
import { createWriter, writeWhole } from './write-response.ts';

const folder = join(recordingsFolder, 'cloudhost_converse');
const upstream = cloudhostConverse.upstream!;
const target = { baseUrl: 'https://b.test', directPath: false, upstreamModelId: 'm', neutralHeaders: false, extraConfig: null };
const streamed = (name: string) => {
  const reader = upstream.createReader(target);
  const parser = createEventStreamParser({ maxMessageBytes: 1 << 24 });
  const records = [...parser.push(readFileSync(join(folder, name, 'response.eventstream.bin'))), ...parser.finish()];
  return [...records.flatMap((record) => reader.read({ ...record, json: JSON.parse(record.data) as unknown })), ...reader.finish()];
};
const ruby = {
  type: 'char_location',
  cited_text: 'The Ruby programming language was created by Yukihiro Matsumoto in 1993. ',
  document_index: 0,
  document_title: 'facts',
  file_id: null,
  start_char_index: 0,
  end_char_index: 73,
};

describeRecorded(existsSync(folder), 'citations of Converse')('recorded citations of documents', () => {
  test('are in the whole reply, on the words that lean on them', () => {
    const events = upstream.readWhole(JSON.parse(readFileSync(join(folder, 'citations-pdf', 'response.json'), 'utf8')), target);
    const { body, losses } = writeWhole(foldEvents(events), replyContext());
    const page = { type: 'page_location', cited_text: 'Dummy PDF file', document_index: 0, document_title: 'my-pdf', file_id: null };
    expect((body as { content: unknown }).content).toEqual([
      { type: 'text', text: 'The title of this document is ' },
      { type: 'text', text: '"Dummy PDF file"', citations: [{ ...page, start_page_number: 1, end_page_number: 2 }] },
      { type: 'text', text: '.' },
    ]);
    expect(losses).toEqual([]);
  });

  test('are deltas in the stream, before the words, and in its fold', () => {
    const events = streamed('citations-stream');
    const writer = createWriter(replyContext());
    const written = events.map((event) => writer.write(event)).join('');
    expect(written).toContain(JSON.stringify({ type: 'citations_delta', citation: ruby }));
    expect(written.indexOf('citations_delta')).toBeLessThan(written.indexOf('text_delta'));
    expect(writer.losses).toEqual([]);
    const { body } = writeWhole(foldEvents(events), replyContext());
    expect((body as { content: { citations?: unknown[] }[] }).content[0]?.citations).toEqual([ruby]);
  });

  test('a page of the web that another vendor found is a declared loss', () => {
    const { losses } = writeWhole(foldEvents(streamed('web-grounding-stream')), replyContext());
    expect(losses.map(({ field }) => field)).toContain('content.annotations');
  });
});

describe('readCitation', () => {
  test('search results and chunks of documents', () => {
    const searchResultLocation = { searchResultIndex: 1, start: 0, end: 2 };
    expect(
      readCitation({ citation: { title: 'T', source: 'https://a.test', sourceContent: [{ text: 'a' }, { text: 'b' }], location: { searchResultLocation } } }),
    ).toEqual({
      type: 'search_result_location',
      cited_text: 'ab',
      search_result_index: 1,
      source: 'https://a.test',
      title: 'T',
      start_block_index: 0,
      end_block_index: 2,
    });
    expect(readCitation({ citation: { location: { documentChunk: { documentIndex: 0, start: 1, end: 2 } } } })).toMatchObject({
      type: 'content_block_location',
      document_title: null,
      start_block_index: 1,
    });
  });

  test.each<{ value: unknown }>([
    { value: {} },
    { value: null },
    { value: { citation: null } },
    { value: { citation: { location: { web: { url: 'https://a.test' } } } } },
    { value: { citation: { location: { toString: {} } } } },
    { value: { citation: { location: { documentChar: { documentIndex: 0 } } } } },
  ])('%j has no counterpart', ({ value }) => {
    expect(readCitation(value)).toBeNull();
  });
});

const claude = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
const facts = { type: 'document', title: 'facts', source: { type: 'text', media_type: 'text/plain', data: 'Ruby is a language.' } };
const report = { type: 'document', title: 'report', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' } };
const asking = { citations: { enabled: true } };

/** What the upstream is asked for these blocks of a user's turn, and which fields are lost on the way. */
function translate(content: object[], adapter: UpstreamAdapter, upstreamModelId: string, before: object[] = []) {
  const at = { ...target, upstreamModelId };
  const body = { model: 'm', max_tokens: 100, messages: [...before, { role: 'user', content: [...content, { type: 'text', text: 'Who?' }] }] };
  const read = readRequest(body, { path: '', operation: 'generate', streamForm: 'sse', headers: {} });
  const fitted = fitToModel(read.conversation, at, adapter);
  const written = adapter.writeRequest(fitted?.conversation ?? read.conversation, {
    ...{ target: at, operation: 'generate', stream: false, openSignature: () => null, mintId: (prefix) => `${prefix}1` },
  });
  const losses = [...read.losses, ...(fitted?.losses ?? []), ...written.losses].map(({ field, action }) => `${action} ${field}`);
  return { body: JSON.parse(JSON.stringify(written.body)) as { messages: { role: string; content: object[] }[] }, losses };
}

describe('documents that are to be cited', () => {
  test('are asked for on Converse as in the recordings: a text as text, other files as bytes', () => {
    const { body, losses } = translate(
      [
        { ...facts, ...asking },
        { ...report, ...asking },
      ],
      upstream,
      claude,
    );
    expect(body.messages[0]?.content.slice(0, 2)).toEqual([
      { document: { name: 'facts', format: 'txt', source: { text: 'Ruby is a language.' }, citations: { enabled: true } } },
      { document: { name: 'report', format: 'pdf', source: { bytes: 'JVBERi0xLjQK' }, citations: { enabled: true } } },
    ]);
    expect(losses).toEqual([]);
  });

  test('in the result of a tool, too', () => {
    const before = [
      { role: 'user', content: 'Look it up.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
    ];
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ ...facts, ...asking }] };
    const { body, losses } = translate([result], upstream, claude, before);
    expect(JSON.stringify(body.messages)).toContain('"citations":{"enabled":true}');
    expect(losses).not.toContain('dropped citations');
    expect(translate([result], upstream, 'us.amazon.nova-pro-v1:0', before).losses).toContain('dropped citations');
  });

  test('stay what they are when nobody asks for citations', () => {
    for (const document of [facts, { ...facts, citations: { enabled: false } }, { ...facts, citations: null }]) {
      const { body, losses } = translate([document], upstream, claude);
      expect(body.messages[0]?.content[0]).toEqual({
        document: { name: 'facts', format: 'txt', source: { bytes: Buffer.from('Ruby is a language.').toString('base64') } },
      });
      expect(losses).toEqual([]);
    }
  });

  test('pass on to another endpoint of messages that is not asked verbatim', () => {
    const { body, losses } = translate([{ ...report, ...asking }], findProtocol('beta')!.upstream!, 'claude-haiku-4-5');
    expect(body.messages[0]?.content[0]).toEqual({ ...report, ...asking });
    expect(losses).toEqual([]);
  });

  test('name as a loss that blocks of a document cannot be pointed at any more', () => {
    const source = {
      type: 'content',
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
    };
    const { body, losses } = translate([{ ...facts, source, ...asking }], upstream, claude);
    expect(body.messages[0]?.content[0]).toMatchObject({ document: { source: { text: 'one\ntwo' }, citations: { enabled: true } } });
    expect(losses).toContain('downgraded citations');
    expect(translate([{ ...facts, source }], upstream, claude).losses).toEqual([]);
  });

  test.each<[id: ProtocolId, model: string]>([
    ['cloudhost_converse', 'us.amazon.nova-pro-v1:0'],
    ['cloudhost_converse', 'us.anthropic.claude-3-haiku-20240307-v1:0'],
    ['cloudhost_converse', 'arn:aws:bedrock:us-east-1:1:application-inference-profile/x'],
    ['cloudhost_invoke', 'us.amazon.nova-pro-v1:0'],
    ['alpha', 'gpt-5.1'],
    ['alpha_response', 'gpt-5.1'],
    ['gamma', 'gemini-2.5-pro'],
    ['delta', 'qwen-plus'],
    ['cloudhost_ide_streaming', 'claude-opus-4.7'],
  ] as const)('are a declared loss for %s of %s', (id, model) => {
    const { body, losses } = translate([{ ...facts, ...asking }], findProtocol(id)!.upstream!, model);
    expect(losses).toContain('dropped citations');
    expect(JSON.stringify(body)).not.toContain('"citations"');
  });
});

describe('search results', () => {
  const found = { type: 'search_result', source: 'https://s.test', title: 'T', content: [{ type: 'text', text: 'fact' }] };
  const searchResult = { source: 'https://s.test', title: 'T', content: [{ text: 'fact' }], citations: { enabled: true } };

  test('stay what they are on Converse, in turns and in results of tools', () => {
    const { body, losses } = translate([{ ...found, ...asking }], upstream, claude);
    expect(body.messages[0]?.content[0]).toEqual({ searchResult });
    expect(losses).toEqual([]);
    const before = [
      { role: 'user', content: 'Look it up.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
    ];
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [found] };
    expect(translate([result], upstream, claude, before).body.messages.at(-1)?.content[0]).toEqual({
      toolResult: { toolUseId: 'toolu_1', content: [{ searchResult: { ...searchResult, citations: { enabled: false } } }] },
    });
  });

  test('pass on to another endpoint of messages', () => {
    const { body, losses } = translate([{ ...found, ...asking }], findProtocol('beta')!.upstream!, 'claude-haiku-4-5');
    expect(body.messages[0]?.content[0]).toEqual({ ...found, ...asking });
    expect(losses).toEqual([]);
  });

  test.each<[id: ProtocolId, model: string]>([
    ['cloudhost_converse', 'us.amazon.nova-pro-v1:0'],
    ['alpha', 'gpt-5.2'],
    ['gamma', 'gemini-3-pro'],
  ])('are text that names its source on %s of %s, which is declared', (id, model) => {
    const { body, losses } = translate([found], findProtocol(id)!.upstream!, model);
    expect(JSON.stringify(body)).toContain(JSON.stringify('T\nhttps://s.test\nfact').slice(1, -1));
    expect(JSON.stringify(body)).not.toContain('searchResult');
    expect(losses).toEqual(['downgraded search_result']);
  });
});
