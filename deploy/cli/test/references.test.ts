/** References to the environment in configuration files. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how they look
import { describe, expect, test } from '@jest/globals';
import { ConfigError } from '@model-gateway/config';
import { parse } from 'yaml';
import { resolveReferences } from '../src/commands/references.ts';

const resolved = (text: string, env: NodeJS.ProcessEnv = {}) => parse(resolveReferences(text, env));

describe('references to the environment', () => {
  test('are replaced by their values, also twice, side by side and without quotes', () => {
    expect(resolved('key: "${A}${B_2}" # ${NOT_READ}', { A: 'sk-1', B_2: '$x' })).toEqual({ key: 'sk-1$x' });
    expect(resolved('[{ key: ${A} }, { "key": "${A}" }]', { A: 'sk-1' })).toEqual([{ key: 'sk-1' }, { key: 'sk-1' }]);
    expect(resolved('url: https://${HOST}/v1', { HOST: 'h' })).toEqual({ url: 'https://h/v1' });
  });

  test.each(['a"b', 'a\\b', 'a\nb: c', "a'b: c", '# x', '- y', 'x: {', '*z', 'true', '12', '${A}', '$${A}'])('%j is a value like any other', (value) => {
    expect(resolved('{ key: "${A}", other: 1 }', { A: value })).toEqual({ key: value, other: 1 });
  });

  test('without quotes, switches and numbers are what they say', () => {
    expect(resolved('a: ${T}\nb: ${N}\nc: "${N}"\nd: ${Z}', { T: 'true', N: '12', Z: '007' })).toEqual({ a: true, b: 12, c: '12', d: '007' });
  });

  test('what is no reference stays as it is', () => {
    const value = '{{header:x}} $A ${a} ${} ${A.B} $${ $${a}';
    expect(resolved(JSON.stringify({ value }))).toEqual({ value });
  });

  test('a doubled dollar sign is the text itself', () => {
    expect(resolved('key: "$${A} ${A}"', { A: 'x' })).toEqual({ key: '${A} x' });
  });

  test('scripts, body rules and descriptions are taken as they are', () => {
    const file = {
      upstreams: [
        {
          request_script: '`${NAME} $${NAME}`',
          request_transform_before: 'x\n  `${NAME}`\n',
          response_transform: '`${NAME}`',
          request_body_rules: [{ mode: 'overwrite', path: 'a', value: { deep: ['${NAME}'] } }],
          description: 'of ${NAME}',
          base_url: '${NAME}',
        },
      ],
    };
    expect(resolved(JSON.stringify(file), { NAME: 'https://h' })).toEqual({ upstreams: [{ ...file.upstreams[0], base_url: 'https://h' }] });
    expect(resolved('request_script: |\n  a`${NAME}`\n')).toEqual({ request_script: 'a`${NAME}`\n' });
  });

  test('an unset name stops with one line that names it', () => {
    expect(() => resolveReferences('key: ${MISSING_ONE}', {})).toThrow(
      new ConfigError('${MISSING_ONE} stands in the file, but MISSING_ONE is not set ($${MISSING_ONE} stands for the text itself)'),
    );
  });

  test('what is no YAML stops with its line, and nothing of it is quoted', () => {
    expect(() => resolveReferences('a: 1\nmodels: [{ key: sk-secret', {})).toThrow(/^line 2 of the file is not valid YAML \([A-Z_]+\)/);
    expect(() => resolveReferences('a: *sk-secret # ${A}', {})).toThrow(/^an alias \(\*name\) of the file/);
  });
});
