/** Citations of Bedrock Converse, as recorded, in the reply of a messages caller. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createEventStreamParser } from '@model-gateway/stream-framing';
import { replyContext } from '../../test/support/beta.ts';
import { describeRecorded } from '../../test/support/describe-recorded.ts';
import { foldEvents } from '../chat/fold.ts';
import { cloudhostConverse } from '../cloudhost_converse/index.ts';
import { readCitation } from './citations.ts';
import { createWriter, writeWhole } from './write-response.ts';

const folder = join(process.env['FIXTURES_DIR'] ?? resolve(import.meta.dirname, '../../../../../shared/fixtures'), 'cloudhost_converse');
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
