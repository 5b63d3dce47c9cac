/** Sizes of prompts before they are counted. */
import { describe, expect, test } from '@jest/globals';
import { noUsage } from '@model-gateway/contracts';
import type { Conversation, Part } from '@model-gateway/protocols';
import { PromptSizes } from '../src/prompt-sizes.ts';

const talk = (...parts: Part[]): Conversation => ({ system: [], turns: [{ role: 'user', parts }], tools: [], sampling: {}, stream: true });
const words = talk({ type: 'text', text: 'x' });

describe('sizes of prompts', () => {
  test('a model that nobody has asked yet: four bytes to a token', () => {
    expect(new PromptSizes().estimate('m', words, 4000)).toBe(1000);
  });

  test('counts of earlier prompts estimate the next, only of the same model', () => {
    const sizes = new PromptSizes();
    sizes.learn('m', words, 8000, { ...noUsage, input: 1000, cacheRead: 2000, cacheWrite5m: 500, cacheWrite1h: 500 });
    expect(sizes.estimate('m', words, 8000)).toBe(4000);
    expect(sizes.estimate('other', words, 8000)).toBe(2000);
    sizes.learn('m', words, 8000, { ...noUsage, input: 2000 });
    expect(sizes.estimate('m', words, 9000)).toBe(3000);
  });

  test('what no text could have been is not learned', () => {
    const sizes = new PromptSizes();
    for (const input of [0, 1, 8001, Number.NaN]) sizes.learn('m', words, 8000, { ...noUsage, input });
    sizes.learn('m', words, 10, { ...noUsage, input: 5 });
    expect(sizes.estimate('m', words, 8000)).toBe(2000);
  });

  test('files are not read as text, and teach nothing', () => {
    const sizes = new PromptSizes();
    const picture: Part = { type: 'media', kind: 'image', mimeType: 'image/png', data: 'A'.repeat(1_000_000) };
    const seen = talk({ type: 'text', text: 'x' }, { type: 'tool-result', callId: 'c', content: [picture] });
    expect(sizes.estimate('m', seen, 1_004_000)).toBe(2200);
    sizes.learn('m', seen, 1_004_000, { ...noUsage, input: 250_000 });
    expect(sizes.estimate('m', words, 4000)).toBe(1000);
  });
});
