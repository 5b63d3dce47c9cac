import { describe, expect, test } from '@jest/globals';
import { unknownFamily } from './family.ts';
import { findFamily } from './find.ts';
import { bareId } from './model-id.ts';
import { table } from './table.ts';

describe('which family', () => {
  test.each([
    ['claude-opus-4-5-20251101', 'claude-opus-4-5*'],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-*-4-5*'],
    ['anthropic/claude-3-5-haiku', 'claude-3-5*'],
    ['arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-3-7-sonnet-20250219-v1:0', 'claude-3-7*'],
    ['claude-opus-4-20250514', 'claude-*-4-2025*'],
    ['claude-sonnet-9', 'claude*'],
    ['GPT-4o-mini-2024-07-18', 'gpt-4o*'],
    ['gpt-4o', 'gpt-4o*'],
    ['gpt-5-chat-latest', 'gpt-5*-chat*'],
    ['models/gemini-2.5-pro', 'gemini-2.5-pro*'],
    ['o3-mini', 'o3-mini*'],
    ['us.amazon.nova-pro-v1:0', 'nova*'],
    ['qwen3-vl-plus', 'qwen*-vl*'],
    ['anthropic/claude-sonnet-4.5', 'claude-*-4-5*'],
    ['claude-3.7-sonnet', 'claude-3-7*'],
    ['magistral-medium-2509', 'magistral*'],
    ['mistral.mixtral-8x7b-instruct-v0:1', 'mixtral*'],
    ['mistral-small-latest', 'mistral-small-latest'],
    ['gemini-2.5-pro-preview-tts', 'gemini-2.5-*-tts*'],
    ['gemini-3.1-pro-preview', 'gemini-3*-pro*'],
    ['gemini-3.8-flash', 'gemini-3.8-flash*'],
    ['publishers/google/models/gemini-4-carbon', 'gemini-4*'],
    ['gemini-4-pro', 'gemini-4*-pro*'],
    ['qwen3-235b-a22b', 'qwen3-235b-a22b'],
    ['grok-4-fast-reasoning', 'grok-4*'],
    ['grok-4-1-fast-non-reasoning', 'grok-4*non-reasoning*'],
  ])('%s is %s', (id, pattern) => expect(findFamily(id).pattern).toBe(pattern));

  test('the most specific row wins, and inherits what it does not say', () => {
    const opus = findFamily('claude-opus-4-5');
    expect(opus.thinking).toMatchObject({ style: 'budget', min: 1024, efforts: ['low', 'medium', 'high'] });
    expect(opus.sampling).toEqual({ fixed: false, maxTemperature: 1, both: false });
    expect(opus.prices).toMatchObject({ currency: 'USD', input: 5_000_000, output: 25_000_000, cacheRead: 500_000, cacheWrite5m: 6_250_000 });
  });

  test('one row tells every protocol what it must know', () => {
    const mistral = findFamily('mistral-large-latest');
    expect(mistral).toMatchObject({ vendor: 'mistral', thinking: { style: 'none' }, sampling: { maxTemperature: 1.5 }, toolIds: { maxLength: 9 } });
    expect(mistral.chat).toMatchObject({ reasoning: 'none', limitField: 'max_tokens', seedField: 'random_seed', streamOptions: false });
    expect(mistral.chat.onlyFields?.request).not.toContain('user');
    expect(findFamily('mistral-small-2603')).toMatchObject({ thinking: { efforts: ['high'], optional: true }, chat: { reasoning: 'effort' } });
    expect(findFamily('gpt-5.2').chat).toMatchObject({ firstParty: true, limitField: 'max_completion_tokens', maxStops: 0, freeTextTools: true });
    expect(findFamily('deepseek-reasoner')).toMatchObject({ vision: false, replaysReasoning: 'with-calls', chat: { reasoning: 'none', jsonSchema: false } });
    expect(findFamily('anthropic.claude-sonnet-4-20250514-v1:0')).toMatchObject({
      systemTurns: false,
      converse: { cacheLifetimes: false, reasoning: 'messages' },
    });
    expect(findFamily('us.anthropic.claude-opus-4-6-v1')).toMatchObject({ converse: { cacheLifetimes: true, structuredOutput: true } });
    expect(findFamily('gemini-2.5-flash')).toMatchObject({ needsCallSignature: false, generateContent: { formatBesideTools: false } });
    expect(findFamily('gemini-3-flash-preview')).toMatchObject({ needsCallSignature: true, generateContent: { mediaInResults: true } });
  });

  test('the upstream id is asked first, the canonical name second, and the rest gets defaults', () => {
    expect(findFamily('gpt-4o', 'claude-opus-4-5').pattern).toBe('gpt-4o*');
    expect(findFamily('my-deployment', 'claude-opus-4-5').pattern).toBe('claude-opus-4-5*');
    expect(findFamily('my-deployment', 'house-model')).toBe(unknownFamily);
    expect(findFamily('')).toBe(unknownFamily);
  });

  // https://docs.fireworks.ai/getting-started/introduction
  test.each(['glm-4p5v', 'glm-5p2', 'kimi-k2p5', 'deepseek-v4p1-flash', 'qwen3p7-plus', 'minimax-m3p1-flash'])(
    'Fireworks writes %s with a letter for the dot',
    (name) => {
      expect(findFamily(`accounts/fireworks/models/${name}`)).toEqual(findFamily(name.replace(/(\d)p(\d)/, '$1.$2')));
    },
  );

  test('hostile ids cost nothing and match nothing by accident', () => {
    const began = process.cpuUsage();
    for (const id of [`claude-${'-4'.repeat(100_000)}`, '*'.repeat(100_000), '__proto__', 'constructor', `${'/'.repeat(50_000)}x`]) findFamily(id);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(5_000);
    expect(findFamily('__proto__')).toBe(unknownFamily);
  });

  test('ids are reduced to what vendors call the model', () => {
    expect(bareId('accounts/fireworks/models/deepseek-v3')).toBe('deepseek-v3');
    expect(bareId('accounts/fireworks/models/glm-5p2')).toBe('glm-5.2');
    expect(bareId('fireworks_ai/accounts/fireworks/models/llama-v3p1-8b-instruct')).toBe('llama-3.1-8b-instruct');
    expect(bareId('glm-5p2')).toBe('glm-5p2');
    expect(bareId('gpt-oss:120b')).toBe('gpt-oss');
    expect(bareId('claude-opus-4-1@20250805')).toBe('claude-opus-4-1');
  });
});

describe('the table', () => {
  test.each(Object.entries(table))('%s makes sense', (pattern, { source, checked }) => {
    expect(pattern).toBe(pattern.toLowerCase());
    expect(source).toMatch(/^https:\/\//);
    expect(checked).toMatch(/^20\d\d-(0[1-9]|1[0-2])$/);
    const family = findFamily(pattern.replaceAll('*', ''));
    expect(family.output === null || family.context === null || family.output <= family.context).toBe(true);
    expect(family.output === null || family.defaultOutput <= family.output).toBe(true);
  });
  test('records are frozen', () => expect(Object.isFrozen(findFamily('gpt-5').thinking)).toBe(true));
});
