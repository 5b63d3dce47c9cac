/** An instrumented script does what it did, counts, and keeps its lines. */
import { describe, expect, test } from '@jest/globals';
import { builtinNames, checkScript, hookNames, instrumentScript, maxScriptLength, scriptTypes } from './index.ts';

/** Runs it with hooks that only count. */
function run(source: string, ...given: unknown[]): { result: unknown; operations: number } {
  let operations = 0;
  const charge = (by: number) => {
    operations += by;
  };
  const same = (value: unknown) => value;
  // biome-ignore lint/security/noGlobalEval: the instrumented text is what is tested.
  const factory = eval(instrumentScript(source).code) as (...hooks: unknown[]) => (...arguments_: unknown[]) => unknown;
  const transform = factory(
    charge,
    charge,
    () => undefined,
    same,
    same,
    (pattern: string, flags: string) => new RegExp(pattern, flags),
  );
  return { result: transform(...given), operations };
}
const value = (statements: string): unknown => run(`function transform(body) {${statements}\n}`, {}).result;

describe('the same script', () => {
  test.each<[string, unknown]>([
    ['let s = 0; for (let i = 0; i < 5; i++) s += i; return s', 10],
    ['let s = ""; for (const x of [1, 2]) for (const y in { a: 1 }) s += x + y; return s', '1a2a'],
    ['let i = 0; while (i < 3) i++; do i++; while (i < 6); return i', 6],
    ['out: for (;;) { for (;;) { break out } } return 1', 1],
    ['const f = x => x + 1; return f(2)', 3],
    ['const f = x => ({ x }); return f(2)', { x: 2 }],
    ['const f = (x) => (x, 5); return f(2)', 5],
    ['const f = () => {}; return f()', undefined],
    ['return (function () { })()', undefined],
    ['const f = a => b => c => a + b + c; return f(1)(2)(3)', 6],
    ['return [1, 2, 3].map(x => x * 2).filter(x => x > 2)', [4, 6]],
    ['return hoisted(); function hoisted() { return inner(); function inner() { return 7 } }', 7],
    ['function* g() { yield 1; yield* [2, 3] } return [...g()]', [1, 2, 3]],
    ['return Math.max(...[1, 2], ...new Set([9]))', 9],
    ['const { a, ...rest } = { a: 1, b: 2 }; return { ...rest, a }', { b: 2, a: 1 }],
    ['const o = { get x() { return 1 }, set x(v) {}, m() { return this.x }, ["c" + 1]: 2 }; return [o.m(), o.c1]', [1, 2]],
    ['class A { #p = 1; static s = 2; f = this.#p + 1; static { A.s++ } get p() { return this.#p } } return [new A().f, A.s, new A().p]', [2, 3, 1]],
    [
      'class A { constructor() { this.x = 1 } } class B extends A { constructor() { super(); this.y = super.constructor === A } } return { ...new B() }',
      { x: 1, y: true },
    ],
    ['return `a${1 + 1}b${`c${3}`}`', 'a2bc3'],
    ['const tag = (parts, ...values) => parts.raw.join("|") + values; return tag`a${1}\\n${2}`', 'a|\\n|1,2'],
    ['return "a-b".replace(/-/g, "+")', 'a+b'],
    ['const x = null; return [x?.y.z, x?.y(), x ?? 4, delete ({}).a]', [undefined, undefined, 4, true]],
    ['switch (2) { case 1: return 1; case 2: { return f() } default: return 3 } function f() { return 2 }', 2],
    ['try { throw new Error("x") } catch ({ message }) { return message } finally { ; }', 'x'],
    ['let a = 1\na += 2\nreturn a', 3],
    ['let a = "x"\n;[1, 2].forEach(n => a += n)\nreturn a', 'x12'],
    ['var f = x => x\nvar g = 1\nreturn f(g)', 1],
    ['if (true) for (let i = 0; i < 1; i++) ; else return 1; return 2', 2],
    ['return 1 + 2 + "a" + (3 + 4)', '3a7'],
    ['const { f = () => 3 } = {}; return ((a = f(), b = a + 1) => b)()', 4],
    ['return (() => { try { return 1 } finally { } })()', 1],
    ['return [..."ab"].length', 2],
  ])('%s', (statements, expected) => {
    expect(value(statements)).toEqual(expected);
  });

  test('keeps its lines', () => {
    const source = 'const a = 1;\n\nfunction transform(body) {\n  const f = (x) =>\n    x.y.z;\n  return f(body);\n}';
    const lines = instrumentScript(source).code.split('\n');
    expect(lines[4]).toContain('x.y.z');
    expect(lines[5]).toContain('return f(body)');
  });
});

describe('counting', () => {
  const operations = (source: string) => run(source, {}).operations;
  test.each<[string, number]>([
    ['function transform(body) { return body }', 2],
    ['function transform(body) { for (let i = 0; i < 10; i++) ; return body }', 12],
    ['function transform(body) { for (let i = 0; i < 10; i++) { Math.abs(i); } return body }', 22],
    ['const f = () => 1; function transform(body) { f(); f(); return body }', 6],
    ['function transform(body) { if (body.no) { Math.abs(1); Math.abs(1) } return body }', 2],
    ['function transform(body) { [1, 2, 3].map((n) => n); return body }', 6],
  ])('%s', (source, expected) => {
    expect(operations(source)).toBe(expected);
  });
});

describe('what is no script', () => {
  const good = 'function transform(body) { return body }';
  test.each<[string, number, RegExp]>([
    ['', 1, /must define function transform/],
    ['function transform(body) {\n  retur body\n}', 2, /Unexpected token/],
    [`import x from 'x'\n${good}`, 1, /import/i],
    [`${good}\nimport('x')`, 2, /import is not allowed/],
    [`${good}\n\nconst x = async () => 1`, 3, /async/],
    [`${good}\nexport default 1`, 2, /export/],
    [`with (a) {}\n${good}`, 1, /with/],
    [`${good}\nlet ${hookNames.charge} = 1`, 2, /reserved/],
    [`${good}\nlet __gat\\u0065wayX = 1`, 2, /reserved/],
    [`${good} }`, 1, /Unexpected token/],
    [`${good}\nreturn 1`, 2, /return/],
    [`${good}//${'x'.repeat(maxScriptLength)}`, 1, /longer than/],
    [`${good}\n${'['.repeat(1000)}${']'.repeat(1000)}`, 2, /too deeply/],
    [`${good}\n${'('.repeat(100_00)}1${')'.repeat(100_00)}`, 1, /too deeply/],
    [`#!x\n${good}`, 1, /Unexpected/],
  ])('%#', (source, line, message) => {
    const fault = checkScript(source);
    expect(fault?.message).toMatch(message);
    if (!/too deeply/.test(fault?.message ?? '')) expect(fault?.line).toBe(line);
  });

  test('a script is', () => {
    expect(checkScript(good)).toBeNull();
    expect(checkScript('const transform = (body) => body')).toBeNull();
  });
});

test('every built-in is declared', () => {
  for (const name of builtinNames) expect(scriptTypes).toContain(`declare function ${name}`);
});
