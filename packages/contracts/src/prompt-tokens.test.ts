import { expect, test } from '@jest/globals';
import { promptTokensByBytes } from './prompt-tokens.ts';

test('a prompt: four bytes to a token, files by their kind', () => {
  expect(promptTokensByBytes(401, {})).toBe(101);
  expect(promptTokensByBytes(1_000_400, { files: { bytes: 1_000_000, tokens: 1600 } })).toBe(1700);
});
