/** What a file exports is used: in the file itself, in another one, or by tests. An export that nobody uses is code that readers have to understand for nothing. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
const sources = execFileSync('git', ['-C', root, 'ls-files'], { encoding: 'utf8', maxBuffer: 1e8 })
  .split('\n')
  .filter((file) => /\.(?:tsx?|mjs)$/.test(file) && existsSync(join(root, file)))
  .map((file) => ({ file, text: withoutComments(readFileSync(join(root, file), 'utf8')) }));

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`\\/])\/\/.*$/gm, '');
}

/** How often each name occurs; a line that only hands a name on (`export { a } from`) is no use of it. */
const uses = new Map<string, number>();
for (const { text } of sources) {
  for (const [name] of text.replace(/^export (?:type )?\{[^}]*\} from .*$/gm, '').matchAll(/[A-Za-z_$][\w$]*/g)) uses.set(name, (uses.get(name) ?? 0) + 1);
}

const declaration = /^export (?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;

test('every export is used somewhere', () => {
  const exported = sources.flatMap(({ file, text }) => [...text.matchAll(declaration)].map(([, name = '']) => ({ file, name })));
  expect(exported.length).toBeGreaterThan(3000);
  expect(exported.filter(({ name }) => uses.get(name) === 1).map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});
