/** Tokens of a stream by the sizes of its pieces: what single events hold, whatever wraps them. */
import { expect, test } from '@jest/globals';
import { Delivered, eventsIn } from './delivered.ts';

const served = { model: 'm', upstream: 'u', upstream_model_id: 'id', upstream_protocol: 'alpha' as const, routes: [] };
const tokensOf = (...pieces: (number | [length: number, events: number])[]) => {
  const delivered = new Delivered();
  for (const piece of pieces) typeof piece === 'number' ? delivered.add(piece, 1) : delivered.add(...piece);
  return delivered.estimate(served, 'generate', 9);
};

test.each<[string, Parameters<typeof tokensOf>, number]>([
  ['events of a token each', [230, 231, 229, 233], 4],
  ['the same, some of them in one piece', [230, [690, 3], [460, 2]], 6],
  ['events of twenty tokens', [110, 190, 190], 41],
  ['one event of many tokens after a short one', [380, 800], 106],
  ['a ping before events of a token each', [36, 120, 120], 2],
])('%s', (_what, pieces, output_tokens) => expect(tokensOf(...pieces)).toEqual({ ...served, usage_source: 'estimated', input_tokens: 9, output_tokens }));

test('nothing is said of a stream that brought nothing, of nobody knows what, or of bytes', () => {
  expect(tokensOf()).toEqual({});
  const delivered = new Delivered();
  delivered.add(100, 1);
  expect(delivered.estimate(undefined, 'generate', 9)).toEqual({});
  expect(delivered.estimate(served, 'speech', 9)).toEqual({});
});

test.each([
  ['data: {}\n\n', 1],
  ['event: a\ndata: {}\n\nevent: b\ndata: {}\n\n', 2],
  ['data: {"a":"data:\\ndata:"}\r\n\r\ndata: {}\r\n\r\n', 2],
  [': keep-alive\n\n', 0],
])('events in %j', (text, events) => {
  expect([eventsIn(text), eventsIn(Buffer.from(text))]).toEqual([events, events]);
});
