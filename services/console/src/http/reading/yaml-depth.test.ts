import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { yamlDepth } from './yaml-depth.ts';

const script = 'if (x[[[0]]]) { return "[[[[{{{{" }';

describe('how deep a YAML text nests', () => {
  test.each([
    ['open flows', `x: ${'['.repeat(400_000)}`],
    ['open flows over lines', `x: [\n${'[\n'.repeat(5_000)}`],
    ['mappings in flows', `x: ${'{a: '.repeat(50_000)}`],
    ['sequences in one line', `${'- '.repeat(200_000)}x`],
    ['complex keys in one line', `${'? '.repeat(200_000)}x`],
    ['indentation', Array.from({ length: 1_000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
    ['a flow behind an anchor and a tag', `x: &a !!seq ${'['.repeat(1_000)}`],
    ['a flow behind a quoted key', `"x: [": ${'['.repeat(1_000)}`],
    ['a flow behind a comment that looks like a text of several lines', `x: # |\n  ${'['.repeat(1_000)}`],
    ['a flow after a text of several lines', `x: |\n  text\ny: ${'['.repeat(1_000)}`],
    ['a flow after quotes', `x: ["]", ']', ${'['.repeat(1_000)}`],
    ['a flow in a sequence of mappings', `- a: 1\n  b: ${'['.repeat(1_000)}`],
    ['a flow in lines that end in CR LF', `a: 1\r\nb:\r\n  ${'['.repeat(1_000)}`],
  ])('%s are seen', (_what, text) => {
    expect(yamlDepth(text)).toBeGreaterThan(256);
  });

  test.each([
    ['nothing', ''],
    ['a configuration', 'upstreams:\n  - name: a\n    api_keys: [{key: "x"}, {key: y}]\n    extra_config: {a: {b: [1, 2]}}\n'],
    ['scripts with brackets', `models:\n${`  - name: m\n    request_transform_before: |\n      ${script}\n      ${'['.repeat(500)}\n`.repeat(50)}`],
    ['folded texts with brackets', `- a: >-\n    ${'['.repeat(500)}\n- b: |2+ # text\n    ${'{'.repeat(500)}\n`],
    ['quoted texts with brackets', `a: "${'['.repeat(500)}"\nb: ['${'{'.repeat(500)}']\nc: '${'['.repeat(500)}'\n`],
    ['words with brackets', `a: x${'['.repeat(500)}\nb: 1 # ${'['.repeat(500)}\n`],
    ['many flows side by side', `a:\n${'  - [1, [2], {b: [3]}]\n'.repeat(5_000)}`],
    ['one long flow', `a: [${'{b: [1]}, '.repeat(5_000)}]`],
  ])('%s nests little', (_what, text) => {
    expect(() => parse(text)).not.toThrow();
    expect(yamlDepth(text)).toBeLessThan(16);
  });

  test('a long text takes a moment', () => {
    const began = performance.now();
    for (const text of ['[', ' ', '- ', 'a: [\n', '"', "'", '{a: "', '#', 'a: |\n ', 'x\n', ':', '&a '])
      yamlDepth(text.repeat(Math.floor(2_000_000 / text.length)));
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});
