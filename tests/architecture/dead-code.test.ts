/** What a file exports, a class offers or a caller may set is used, be it by tests alone. All else is code that readers have to understand for nothing. */
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

const shipped = sources.filter(({ file }) => /^(?:packages|services|deploy)\//.test(file) && !/(?:^|\/)(?:test|bench)\/|\.test\./.test(file));

/** What a class has for the sake of a library's interface, or of scripts, is called from outside. */
test('every method of a class is called somewhere', () => {
  const method = /^ {2}(?:(?:async|static|get|set) )*(?!constructor\b)([a-zA-Z]\w*)(?:<[^>]*>)?\([^;]*\)(?:: [^{;]+)? \{$/gm;
  const own = shipped.filter(
    ({ file, text }) =>
      /^(?:export )?class /m.test(text) && !/ (?:extends|implements) [A-Z]/.test(text) && !file.startsWith('services/script-runner/src/guest/'),
  );
  const methods = own.flatMap(({ file, text }) => [...text.matchAll(method)].map(([, name = '']) => ({ file, name })));
  expect(methods.length).toBeGreaterThan(100);
  expect(methods.filter(({ name }) => uses.get(name) === 1).map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});

test('every option is set somewhere', () => {
  const block = /interface \w*(?:Options|Deps|Config)\b[^{]*\{([\s\S]*?)\n\}/g;
  const setIn = new Map<string, Set<string>>();
  for (const { file, text } of sources)
    for (const [name] of text.matchAll(/(?<![\w?.])\w+(?=\s*[:,}\n])/g)) setIn.set(name, (setIn.get(name) ?? new Set()).add(file));
  const options = shipped.flatMap(({ file, text }) =>
    [...text.matchAll(block)].flatMap(([, body = '']) => [...body.matchAll(/^ {2}(?:readonly )?(\w+)\?:/gm)].map(([, name = '']) => ({ file, name }))),
  );
  expect(options.length).toBeGreaterThan(50);
  expect(options.filter(({ file, name }) => [...(setIn.get(name) ?? [])].every((one) => one === file)).map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});
