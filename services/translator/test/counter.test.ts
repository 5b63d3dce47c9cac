/** The token counter: near the exact figure for prose, and bounded for text that its tokenizer is slow on. */
import { afterAll, expect, test } from '@jest/globals';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { createTokenCounter } from '../src/count-tokens/counter.ts';

const counter = createTokenCounter();
afterAll(() => counter.close());
const prose = 'A gateway, placed in front of providers, counts tokens (o200k) for 1,024 callers; nobody waits.\n'.repeat(40);

test('prose and code are counted as the tokenizer counts them, within one per cent', async () => {
  const exact = new Tiktoken(o200k).encode(prose, [], []).length;
  expect(Math.abs((await counter.count(prose)) - exact)).toBeLessThanOrEqual(exact / 100);
  expect(await counter.count('')).toBe(0);
  expect(await counter.count('hello world')).toBe(2);
});

test('a long run without a break takes no longer than its length allows', async () => {
  const started = performance.now();
  const [chinese, letters] = await Promise.all([counter.count('汉'.repeat(8192)), counter.count('a'.repeat(8192))]);
  expect(chinese).toBe(8192);
  expect(letters).toBeGreaterThan(900);
  expect(performance.now() - started).toBeLessThan(60_000);
});

test('what exceeds the longest text that is counted goes by the same rate', async () => {
  const once = await counter.count(prose);
  const times = Math.ceil((1024 * 1024) / prose.length);
  const many = await counter.count(prose.repeat(times));
  expect(Math.abs(many - once * times)).toBeLessThan((once * times) / 50);
});
