/** The validator itself: it must find what it is there to find. */
import { describe, expect, test } from '@jest/globals';
import { ownFixture } from '../support/beta.ts';
import { validateStream } from './beta.ts';

const good = ownFixture('tools.sse');
const events = good.split(/(?<=\n\n)/);
const indexOf = (part: string): number => events.findIndex((event) => event.includes(part));
const without = (part: string): string => events.filter((_event, place) => place !== indexOf(part)).join('');

describe('validateStream', () => {
  test('takes a good stream, and its beginnings when they may be cut', () => {
    expect(validateStream(good)).toEqual([]);
    for (let length = 0; length <= events.length; length++) expect(validateStream(events.slice(0, length).join(''), { partial: true })).toEqual([]);
  });

  test.each([
    ['message_start missing', without('"message_start"')],
    ['a start missing', without('"index":2,"content_block"')],
    ['a stop missing', without('"content_block_stop","index":1')],
    ['message_delta missing', without('"message_delta"')],
    ['message_stop missing', without('"message_stop"')],
    ['an event twice', events.flatMap((event) => (event.includes('message_start') ? [event, event] : [event])).join('')],
    ['a foreign event', `${good}event: gateway_warning\ndata: {"type":"gateway_warning"}\n\n`],
    ['a delta of the wrong kind', good.replace('"text_delta","text"', '"thinking_delta","thinking"')],
    ['a skipped index', good.replaceAll('"index":4', '"index":5')],
    ['a repeated call id', good.replace('toolu_02Upstream', 'toolu_01Upstream')],
    ['a foreign call id', good.replace('toolu_02Upstream', 'call_2')],
    ['usage missing', good.replace('"cache_read_input_tokens":11,', '')],
    ['an event line that differs', good.replace('event: message_stop', 'event: ping')],
    ['broken JSON', good.replace('"role":"assistant"', '"role":')],
    ['no blank line at the end', good.trimEnd()],
  ])('finds: %s', (_name, stream) => {
    expect(validateStream(stream)).not.toEqual([]);
  });
});
