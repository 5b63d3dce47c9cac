/** The tier that served a reply, as its usage carries it to the price: by each vendor's own words. */
import { describe, expect, test } from '@jest/globals';
import type { ProtocolId } from '@model-gateway/contracts';
import { findProtocol } from '../../src/index.ts';
import { target } from '../laws/harness.ts';
import { replies, withField } from './replies.ts';

const places = {
  alpha: {
    path: ['service_tier'],
    standard: ['default', 'standard', 'on_demand', 'auto'],
    words: { flex: 'flex', priority: 'priority', performance: 'priority' },
  },
  alpha_response: { path: ['service_tier'], standard: ['default', 'auto'], words: { flex: 'flex', ultrafast: 'ultrafast' } },
  beta: { path: ['usage', 'service_tier'], standard: ['standard'], words: { priority: 'priority', batch: 'batch' } },
  gamma: {
    path: ['usageMetadata', 'trafficType'],
    standard: ['ON_DEMAND', 'TRAFFIC_TYPE_UNSPECIFIED'],
    words: { ON_DEMAND_PRIORITY: 'priority', PROVISIONED_THROUGHPUT: 'provisioned_throughput' },
  },
} as const;

describe.each(Object.entries(places))('%s', (id, { path, standard, words }) => {
  const { readWhole, finishedUsage } = findProtocol(id as ProtocolId)!.upstream!;
  const tierOf = (word: unknown) => {
    const body = withField(replies[id], path, word);
    const read = readWhole(body, target).findLast((event) => event.type === 'usage')!.usage;
    // The short way of replies that pass says the same.
    if (finishedUsage) expect(finishedUsage(body)?.serviceTier).toBe(read.serviceTier);
    return read.serviceTier;
  };

  test.each(Object.entries(words))('%s is %s', (word, tier) => expect(tierOf(word)).toBe(tier));
  test.each(standard)('%s is the standard tier', (word) => expect(tierOf(word)).toBeUndefined());
  test('a word that only its vendor has stays, and what is no word is passed over', () => {
    expect(tierOf('reserved')).toBe('reserved');
    for (const odd of [null, 7, {}, '', 'x'.repeat(41), 'two words', '__proto__\n']) expect(tierOf(odd)).toBeUndefined();
  });
});

test('alpha: a stream whose last chunk has the counts alone keeps the tier of its first', () => {
  const reader = findProtocol('alpha')!.upstream!.createReader(target);
  const chunk = (more: object) => reader.read({ data: '', json: { id: 'c', model: 'x', ...more } });
  const events = [
    ...chunk({ service_tier: 'priority', choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] }),
    ...chunk({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
  ];
  expect(events.findLast((event) => event.type === 'usage')!.usage.serviceTier).toBe('priority');
});

test('beta: a reply at a higher speed is fast, whatever tier it names', () => {
  const { readWhole, finishedUsage } = findProtocol('beta')!.upstream!;
  const body = withField(withField(replies['beta'], ['usage', 'speed'], 'fast'), ['usage', 'service_tier'], 'priority');
  expect(readWhole(body, target).findLast((event) => event.type === 'usage')!.usage.serviceTier).toBe('fast');
  expect(finishedUsage!(body)!.serviceTier).toBe('fast');
});
