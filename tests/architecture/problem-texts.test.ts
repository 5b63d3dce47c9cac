/** What the console's API says is wrong beside its schemas has a text in Chinese too: every sentence that its sources hold. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ErrorCode, errorCodes } from '@model-gateway/contracts/errors';
import zh from '@model-gateway/contracts/fault-texts/zh.json' with { type: 'json' };
import ts from 'typescript';
import { sayFault, setFaultTexts } from '../../services/console/web/src/i18n/fault-texts.ts';
import { constantsOf, textsOf } from './expression-texts.ts';

const root = join(import.meta.dirname, '../..');
const sources = execFileSync('git', ['-C', root, 'ls-files', 'services/console/src', 'packages/storage/src'], { encoding: 'utf8' })
  .split('\n')
  // What became of another gateway's settings is a report, in the words of that gateway.
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('/transfer/foreign/'));

const memberOf = (node: ts.Node | undefined, name: string): ts.Expression | undefined =>
  node && ts.isObjectLiteralExpression(node)
    ? node.properties.find((one): one is ts.PropertyAssignment => ts.isPropertyAssignment(one) && one.name.getText() === name)?.initializer
    : undefined;

/** Of `new Problem(code, message)`, `new GatewayError(code, { message })`, `invalidField(field, message)`, and members named `message`. */
function sentencesOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const constants = constantsOf(source);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isNewExpression(node) && /^(?:Problem|GatewayError)$/.test(node.expression.getText())) {
      const [code, given] = node.arguments ?? [];
      const message = node.expression.getText() === 'Problem' ? given : memberOf(given, 'message');
      const isLeftOut = message === undefined || message.getText() === 'undefined';
      const general = () => textsOf(code, constants).map((one) => errorCodes[one as ErrorCode]?.message ?? '');
      found.push(...(isLeftOut ? general() : textsOf(message, constants)));
    }
    if (ts.isCallExpression(node) && node.expression.getText() === 'invalidField') found.push(...textsOf(node.arguments[1], constants));
    found.push(...textsOf(memberOf(node, 'message'), constants));
    ts.forEachChild(node, visit);
  };
  visit(source);
  // One word explains nothing, and what holds no word of its own passes others on.
  return found.filter((text) => / [a-z]/i.test(text));
}

beforeAll(() => setFaultTexts(zh));
afterAll(() => setFaultTexts({}));

const sentences = [...new Set(sources.flatMap(sentencesOf))].sort();

test('the sentences are found in the sources', () => expect(sentences.length).toBeGreaterThan(120));

test('each of them is said in Chinese', () => {
  expect(sentences.filter((sentence) => !/\p{Script=Han}/u.test(sayFault(sentence)))).toEqual([]);
});

test('nouns, lists of reasons and places are taken over', () => {
  expect(sayFault('There is already an access key of this name.')).toBe('已存在同名的访问密钥。');
  expect(sayFault('The model is still used by load balancers: a.b, c. Rules still send requests to the model: those of the upstream d.')).toBe(
    '模型仍被使用：load balancers: a.b, c。仍有规则把请求发往该模型，这些规则属于：the upstream d。',
  );
});
