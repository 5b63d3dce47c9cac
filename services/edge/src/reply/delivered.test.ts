/** Tokens of a stream by the sizes of its pieces: what single events hold, whatever wraps them. */
import { expect, test } from '@jest/globals';
import { Delivered, estimatePrompt } from './delivered.ts';

const served = { model: 'm', upstream: 'u', upstream_model_id: 'id', upstream_protocol: 'alpha' as const, routes: [] };
const tokensOf = (...lengths: number[]) => {
  const delivered = new Delivered();
  for (const length of lengths) delivered.add(length);
  return delivered.estimate(served, 'generate', 9);
};

test.each([
  ['events of a token each', [230, 231, 229, 233], 4],
  ['the same, some of them in one piece', [230, 690, 460], 6],
  ['events of twenty tokens', [110, 190, 190], 41],
])('%s', (_what, lengths, output_tokens) => expect(tokensOf(...lengths)).toEqual({ ...served, usage_source: 'estimated', input_tokens: 9, output_tokens }));

test('nothing is said of a stream that brought nothing, of nobody knows what, or of bytes', () => {
  expect(tokensOf()).toEqual({});
  const delivered = new Delivered();
  delivered.add(100);
  expect(delivered.estimate(undefined, 'generate', 9)).toEqual({});
  expect(delivered.estimate(served, 'speech', 9)).toEqual({});
});

test('a prompt: four bytes to a token, files by their kind', () => {
  expect(estimatePrompt(401, {})).toBe(101);
  expect(estimatePrompt(1_000_400, { files: { bytes: 1_000_000, tokens: 1600 } })).toBe(1700);
});
