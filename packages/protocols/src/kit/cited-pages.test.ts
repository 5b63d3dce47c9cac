/** Pages that a reply cites reach callers of the three protocols with a field for them, attached to the text they support. */
import { describe, expect, test } from '@jest/globals';
import { askerOf } from '../../test/board/asks.ts';
import { answerStreamed, answerWhole, ask } from '../../test/board/cross.ts';
import { citedPage, citedReply, reply, text } from '../../test/board/replies.ts';
import { speakers, upstreams, validate } from '../../test/laws/harness.ts';
import { readCitedPages } from './cited-pages.ts';

const upstreamOf = (id: string) => upstreams.find((one) => one.id === id)!;
const clientOf = (id: string) => speakers.find((one) => one.id === id)!;
// biome-ignore lint/suspicious/noExplicitAny: bodies are read freely.
type Json = any;

/** What the caller's stream and whole body say; two texts, of which the first is cited. */
function received(client: string, upstream: string): { streamed: string; whole: Json } {
  const pair = { client: clientOf(client), upstream: upstreamOf(upstream) };
  const asked = ask(pair, askerOf(client).text());
  const events = reply([...citedReply(upstream)!, text(' It is long.')]);
  const streamed = answerStreamed(pair, asked, events).text;
  expect(validate(pair.client, streamed)).toEqual([]);
  return { streamed, whole: JSON.parse(answerWhole(pair, asked, events).text) };
}

describe('from the messages wire, which cites before the words', () => {
  test('chat completions: over the block that is cited', () => {
    const { streamed, whole } = received('alpha', 'beta');
    const annotation = { type: 'url_citation', url_citation: { url: citedPage, title: 'Seine', start_index: 0, end_index: 'The Seine is a river.'.length } };
    expect(streamed).toContain(JSON.stringify(annotation));
    expect(whole.choices[0].message.annotations).toEqual([annotation]);
  });

  test('Responses: on the part, in an event of its own and in the finished item', () => {
    const { streamed, whole } = received('alpha_response', 'beta');
    const annotation = { type: 'url_citation', start_index: 0, end_index: 'The Seine is a river.'.length, title: 'Seine', url: citedPage };
    expect(streamed).toContain(`"annotation":${JSON.stringify(annotation)}`);
    expect(whole.output[0].content[0].annotations).toEqual([annotation]);
    expect(whole.output[1].content[0].annotations).toEqual([]);
  });

  test('generate-content: among the pages of the candidate', () => {
    const { streamed, whole } = received('gamma', 'beta');
    const chunk = { web: { uri: citedPage, title: 'Seine' } };
    expect(streamed).toContain(JSON.stringify(chunk));
    expect(whole.candidates[0].groundingMetadata).toEqual({ groundingChunks: [chunk] });
  });
});

test('between the two protocols of one vendor the words that are meant stay the same', () => {
  expect(received('alpha_response', 'alpha').whole.output[0].content[0].annotations).toMatchObject([{ url: citedPage, start_index: 4, end_index: 9 }]);
  expect(received('alpha', 'alpha_response').whole.choices[0].message.annotations).toMatchObject([
    { url_citation: { url: citedPage, start_index: 4, end_index: 9 } },
  ]);
});

test.each<[string, unknown]>([
  ['nothing', null],
  ['no list', { fields: { annotations: 'x' } }],
  ['no address', { citation: { url: 1, title: 't' } }],
  ['an address that is none of the web', { annotation: { type: 'url_citation', url: 'javascript:alert(1)' } }],
  ['a file', { annotation: { type: 'file_citation', file_id: 'f' } }],
  ['an endless address', { citation: { url: `https://h/${'x'.repeat(9000)}` } }],
  ['odd chunks', { candidate: { groundingMetadata: { groundingChunks: [null, { web: null }, { web: { uri: [] } }] } } }],
])('%s is no page', (_name, value) => expect(readCitedPages(value).pages).toEqual([]));

describe('a search result that is cited', () => {
  const place = { searchResultIndex: 0, start: 0, end: 1 };
  const wordings: [string, (source: string) => object][] = [
    ['Converse', (source) => ({ citation: { title: 'Seine', source, location: { searchResultLocation: place } } })],
    ['messages', (source) => ({ type: 'citations_delta', citation: { type: 'search_result_location', title: 'Seine', source, search_result_index: 0 } })],
  ];

  test.each(wordings)('of %s: is a page by its address', (_name, citing) => {
    expect(readCitedPages(citing(citedPage))).toEqual({ pages: [{ url: citedPage, title: 'Seine' }], more: true });
  });

  test.each(wordings)('of %s: with a source that is no address is no page, which callers are told', (_name, citing) => {
    expect(readCitedPages(citing('handbook/7')).pages).toEqual([]);
    for (const client of ['alpha', 'alpha_response', 'gamma']) {
      const pair = { client: clientOf(client), upstream: upstreamOf('cloudhost_converse, claude-sonnet-4-5') };
      const events = reply([{ ...text('The Seine is a river.'), raw: citing('handbook/7') }]);
      expect(answerStreamed(pair, ask(pair, askerOf(client).text()), events).losses.map(({ action }) => action)).toContain('dropped');
    }
  });
});

test('a range that cannot be is none', () => {
  const at = (start: unknown, end: unknown) =>
    readCitedPages({ annotation: { type: 'url_citation', url: 'https://h', start_index: start, end_index: end } }).pages[0]?.range;
  for (const [start, end] of [
    [-1, 4],
    [4, 4],
    [5, 4],
    [0.5, 2],
    ['0', 2],
    [null, null],
  ])
    expect(at(start, end)).toBeUndefined();
  expect(at(0, 4)).toEqual([0, 4]);
});
