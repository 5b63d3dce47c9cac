import { describe, expect, test } from '@jest/globals';
import { createSampler, type SamplerName } from './sampling.ts';

const sampled = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };
const unsampled = { ...sampled, sampled: false };

describe('samplers', () => {
  test.each<[SamplerName, boolean, boolean, boolean]>([
    // without a parent, with one that is sampled, with one that is not
    ['always_on', true, true, true],
    ['always_off', false, false, false],
    ['parentbased_always_on', true, true, false],
    ['parentbased_always_off', false, true, false],
  ])('%s', (name, none, taken, left) => {
    const decide = createSampler(name, 0.5);
    expect([decide(undefined), decide(sampled), decide(unsampled)]).toEqual([none, taken, left]);
  });

  test('parentbased_traceidratio follows its caller, and draws where there is none', () => {
    let draw = 0.009;
    const decide = createSampler('parentbased_traceidratio', 0.01, () => draw);
    expect([decide(undefined), decide(sampled), decide(unsampled)]).toEqual([true, true, false]);
    draw = 0.01;
    expect([decide(undefined), decide(sampled)]).toEqual([false, true]);
  });

  test('traceidratio goes by the id alone, whatever its caller decided', () => {
    const decide = createSampler('traceidratio', 0.25, () => 1);
    const ending = (end: string) => ({ ...unsampled, traceId: `${'0'.repeat(18)}${end}` });
    expect(decide(ending('bfffffffffff00'))).toBe(false);
    expect(decide(ending('c0000000000000'))).toBe(true);
    expect(decide(undefined)).toBe(false);
    for (const share of [0, 1]) expect(createSampler('traceidratio', share)(ending('80000000000000'))).toBe(share === 1);
  });
});
