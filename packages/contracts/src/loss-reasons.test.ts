import { expect, test } from '@jest/globals';
import table from '../data/loss-reasons.json' with { type: 'json' };
import { findLossReason, translateLossReason } from './loss-reasons.ts';

test.each(Object.entries(table))('%s is found by its own text, and translated', (code, { en, zh }) => {
  const detail = en.replace('{value}', '4096');
  const found = findLossReason(detail);
  expect(found?.value ?? null).toBe(en.includes('{value}') ? '4096' : null);
  expect(found?.code).toBe(code);
  expect(translateLossReason(detail, 'zh')).toBe(zh.replace('{value}', '4096'));
  expect(zh.includes('{value}')).toBe(en.includes('{value}'));
  expect(zh).toMatch(/\p{Script=Han}/u);
});

test('a text that begins like a shorter one is not taken for it', () => {
  expect(findLossReason('limited to 4096')?.code).toBe('limited');
  expect(findLossReason('Limited to 4096, the most that this model writes.')?.code).toBe('limited_most_model_writes');
  expect(findLossReason('image that cannot be sent in this form was replaced by a note')).toMatchObject({ value: 'image' });
});

test('a capital letter and a full stop make no other reason', () => {
  expect(findLossReason('sent as text')).toEqual(findLossReason('Sent as text.'));
  expect(findLossReason('sent as text')?.code).toBe('sent_text');
});

test('an unknown text stays as it is', () => {
  expect(findLossReason('something new')).toBeNull();
  expect(translateLossReason('something $& new', 'zh')).toBe('something $& new');
});
