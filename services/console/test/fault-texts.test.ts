/** What the schemas say is wrong with a field has a text in Chinese: the console shows it beside the field. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import zh from '@model-gateway/contracts/fault-texts/zh.json' with { type: 'json' };
import { shapeSchemas } from '@model-gateway/contracts/fields';
import type { z } from 'zod';
import { createPostgresDialect } from '../../../packages/storage/src/dialects/postgres.ts';
import { createSqliteDialect } from '../../../packages/storage/src/dialects/sqlite.ts';
import { plainWords } from '../src/validation/plain-words.ts';
import { faultsOf } from '../src/validation/read-input.ts';
import { sayFault, setFaultTexts } from '../web/src/i18n/fault-texts.ts';

/** What people type, paste and leave out. */
const wrong: readonly unknown[] = [
  ...[undefined, null, true, {}, { a: 1 }, { '': 1 }, [], [{}], [1], ['', '\u0000'], Array(20_001).fill('x')],
  ...['', ' x ', 'a b', '*', 'x/', 'ä', '\u0000', 'x'.repeat(300_000), 'http://x/', 'http://x/?q=1', 'ftp://x'],
  ...[0, -1, 1.5, 5, 1e18, '-1', '1e5', '1.12345678', 'Infinity', '1 2', '99999999999999999'],
];

beforeAll(() => setFaultTexts(zh));
afterAll(() => setFaultTexts({}));

test.each(Object.entries(shapeSchemas) as [string, z.ZodObject][])('%s: whatever is wrong is said in Chinese', (_shape, schema) => {
  const untold = new Set<string>();
  for (const field of Object.keys(schema.shape))
    for (const value of wrong) {
      const { error } = schema.safeParse({ [field]: value }, { error: plainWords });
      for (const { message } of error ? faultsOf(error, '') : []) if (!/\p{Script=Han}/u.test(sayFault(message))) untold.add(message);
    }
  expect([...untold]).toEqual([]);
});

test('what varies is taken over, the most special sentence counts, and what is unknown stays', () => {
  expect(sayFault('must have at most 200 characters')).toBe('最多 200 个字符');
  expect(sayFault('must be at most 600000')).toBe('不能大于 600000');
  expect(sayFault('must be one of day, week')).toBe('必须是以下之一：day, week');
  expect(sayFault('a sentence of a later version')).toBe('a sentence of a later version');
});

test('what is wrong with the database is said in Chinese', () => {
  const { translateError } = createPostgresDialect({ url: 'postgres://nobody@127.0.0.1:1/none' }, { warn: () => undefined });
  const messages = ['08006', '25006', '42501', '42P01', '53100', '53300', '55P03', '57014', 'EPOOLBUSY', 'ECONNREFUSED'].map(
    (code) => (translateError(Object.assign(new Error('refused'), { code })) as Error).message,
  );
  expect(new Set(messages).size).toBe(8);
  const full = createSqliteDialect(':memory:').translateError(Object.assign(new Error('database or disk is full'), { errcode: 13 }));
  expect(messages).toContain((full as Error).message);
  expect(messages.filter((message) => !/\p{Script=Han}/u.test(sayFault(message)))).toEqual([]);
});

test('a secret whose master key is gone is told of in Chinese as a whole', () => {
  const fault = 'A sealed value needs the master key "old", which GATEWAY_MASTER_KEY does not hold';
  const said = sayFault(`${fault}. Add the key that sealed it to GATEWAY_MASTER_KEY again, after the present one, or give it a new value.`);
  expect(said).toMatch(/^密文需要主密钥“old”/);
});

test('each text has the places of its sentence', () => {
  const places = (text: string) => [...text.matchAll(/\{\{\w+\}\}/g)].map(([place]) => place).sort();
  // Chinese has no articles.
  const said = (sentence: string) => places(sentence).filter((place) => place !== '{{article}}');
  for (const [sentence, text] of Object.entries(zh)) expect([sentence, places(text)]).toEqual([sentence, said(sentence)]);
});
