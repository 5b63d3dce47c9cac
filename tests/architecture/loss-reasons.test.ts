/** Every loss that the code declares has a code and a text in each language of the console. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { findLossReason } from '@model-gateway/contracts/loss-reasons';
import ts from 'typescript';
import { constantsOf, textsOf } from './expression-texts.ts';

const root = join(import.meta.dirname, '../..');
const sources = execFileSync('git', ['-C', root, 'ls-files', 'packages/protocols/src', 'packages/body-rules/src', 'services/translator/src'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));

/** Reasons of losses in a file: last arguments of `losses.add` and `losses.dropped`, and members named `detail`. */
function declaredReasons(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const reasons: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && node.name.getText(source) === 'detail') reasons.push(node.initializer);
    const { expression, arguments: given } = node as ts.CallExpression;
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(expression) && /^(?:add|dropped)$/.test(expression.name.text)) {
      const last = given.at(-1);
      if (/loss(?:es)?$/i.test(expression.expression.getText(source)) && last) reasons.push(last);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  const constants = constantsOf(source);
  // A reason is a sentence; fields of protocols that happen to be named `detail` hold one word.
  return reasons.flatMap((node) => textsOf(node, constants)).filter((text) => text.includes(' '));
}

const declared = sources.flatMap((file) => declaredReasons(file).map((text) => ({ file, text })));

test('the reasons are found in the sources', () => expect(declared.length).toBeGreaterThan(300));

test('every declared reason is in packages/contracts/data/loss-reasons.json', () => {
  // `%` is where one of them inserts a clause of its own.
  expect(declared.filter(({ text }) => findLossReason(text.replace('%', '')) === null)).toEqual([]);
});
