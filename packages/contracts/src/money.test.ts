import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { budgetSchema, moneyFault, parseMoney, pricingRequestSchema, printMoney } from './index.ts';

describe('amounts', () => {
  test.each([
    ['0', 0],
    ['3', 3_000_000],
    ['3.00', 3_000_000],
    ['0.1', 100_000],
    ['0.000001', 1],
    ['1000000000', 1e15],
    ['999999999.999999', 999_999_999_999_999],
  ])('%s is %d micro-units', (text, micros) => {
    expect([moneyFault(text), parseMoney(text)]).toEqual([null, micros]);
  });

  test.each([
    ['', /empty/],
    [' 3', /blanks/],
    ['3 ', /blanks/],
    ['1 000', /blanks/],
    ['-1', /negative/],
    ['-0', /negative/],
    ['0.0000001', /more than 6 decimals/],
    ['1e3', /exponent/],
    ['1E-6', /exponent/],
    ['Infinity', /finite/],
    ['NaN', /finite/],
    ['1,000', /decimal string/],
    ['3,5', /decimal string/],
    ['$3', /decimal string/],
    ['+3', /decimal string/],
    ['.5', /decimal string/],
    ['5.', /decimal string/],
    ['03', /decimal string/],
    ['0x10', /decimal string/],
    ['٣', /decimal string/],
  ])('%j is refused', (text, why) => expect(moneyFault(text)).toMatch(why));

  test('what is printed reads as the same micro-units', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (micros) => {
        expect(moneyFault(printMoney(micros))).toBeNull();
        expect(parseMoney(printMoney(micros))).toBe(micros);
      }),
    );
    expect([printMoney(0), printMoney(1), printMoney(-1_500_000), printMoney(12_300_000)]).toEqual(['0', '0.000001', '-1.5', '12.3']);
    expect(parseMoney('9007199254.740992')).toBe(Number.POSITIVE_INFINITY);
  });
});

const faultsOf = (result: { success: boolean; error?: { issues: { path: PropertyKey[]; message: string }[] } }) =>
  (result.error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n');

describe('prices that people send', () => {
  const price = (input: unknown, more: object = {}) => pricingRequestSchema.safeParse({ name: 'p', model: 'm', input, output: '15', ...more });

  test('decimal strings become micro-units, also in tiers', () => {
    expect(price('3.00', { tiers: [{ above_tokens: 1, input: '6.5' }] }).data).toMatchObject({
      input: 3_000_000,
      output: 15_000_000,
      cache_read: null,
      tiers: [{ above_tokens: 1, input: 6_500_000, output: null }],
    });
    expect(pricingRequestSchema.parse({ name: 'p', model: 'm', mode: 'per_image', unit: '40000' }).unit).toBe(40_000_000_000);
  });

  test.each([3, 3_000_000, 0, 1.5, -1])('a number (%d) is refused with both of its readings', (number) => {
    const faults = faultsOf(price(number));
    expect(faults).toMatch(/^input: /);
    expect(faults).toContain('currency for a million tokens');
    expect(faults).toContain('micro-units');
    if (number === 3) expect(faults).toMatch(/"3" .*"0\.000003"/);
  });

  test('what is too much is refused', () => {
    expect(faultsOf(price('1000000000.000001'))).toMatch(/at most/);
    expect(price('1000000000').success).toBe(true);
  });
});

describe('budgets that people send', () => {
  const limit = (value: unknown) => budgetSchema.safeParse({ limit: value, period: 'day' });

  test.each([
    ['5', 5],
    ['0.000001', 0.000001],
    ['999999999.999999', 999_999_999.999999],
    [5, 5],
    [1.5, 1.5],
    [0, 0],
  ])('%j is whole currency', (sent, kept) => expect(limit(sent).data?.limit).toBe(kept));

  test.each(['', ' 5', '-5', '1e3', 'Infinity', '0.0000001', '1000000000.1', -5, 1e10, 0.0000001, null, true, Number.NaN])('%j is refused', (sent) => {
    expect(faultsOf(limit(sent))).toMatch(/^limit: /);
    expect(faultsOf(limit(sent))).not.toBe('limit: Invalid input');
  });
});
