/** Small parts of the command line: references in files, key files. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of configuration files look like this
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Config, ConfigError, loadConfig } from '@model-gateway/config';
import { createKeyring } from '@model-gateway/secrets';
import { resolveReferences } from '../src/commands/apply.ts';
import { masterKeyOf, prepareKeyFiles } from '../src/key-files.ts';

describe('references to the environment', () => {
  test('stand for their values, also twice and side by side', () => {
    expect(resolveReferences('key: "${A}${B_2}" # ${A}', { A: 'sk-1', B_2: '$x' })).toBe('key: "sk-1$x" # sk-1');
  });

  test('what is no reference stays as it is', () => {
    const text = '{{header:x}} $A ${a} ${} ${A.B} $${';
    expect(resolveReferences(text, {})).toBe(text);
  });

  test('an unset name stops with one line that names it', () => {
    expect(() => resolveReferences('${MISSING_ONE}', {})).toThrow(new ConfigError('${MISSING_ONE} stands in the file, but MISSING_ONE is not set'));
  });

  test.each(['a"b', 'a\\b', 'a\nb: c', 'a\rb'])('%j cannot be put into a file without changing its meaning', (value) => {
    expect(() => resolveReferences('${A}', { A: value })).toThrow(/^A holds a quote, a backslash or a line break/);
    // The value itself is a secret: it is not repeated.
    expect(() => resolveReferences('${A}', { A: value })).not.toThrow(value);
  });
});

describe('key files', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-keys-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const config = (env: NodeJS.ProcessEnv = {}): Config => loadConfig({ env: { CONFIG_FILE: '/dev/null', DATA_DIR: join(folder, 'data'), ...env } });

  test('are made on the first run, for their owner alone, and kept on the next', () => {
    prepareKeyFiles(config());
    expect(statSync(join(folder, 'data', 'master.key')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700);
    const key = masterKeyOf(config());
    prepareKeyFiles(config());
    expect(masterKeyOf(config())).toBe(key);
    const keyring = createKeyring(key);
    expect(keyring.open(keyring.seal('secret', 'place'), 'place')).toBe('secret');
  });

  test('what the environment gives is used, and no file is made for it', () => {
    const given = config({ GATEWAY_MASTER_KEY: randomBytes(32).toString('base64') });
    prepareKeyFiles(given);
    expect(() => readFileSync(join(folder, 'data', 'master.key'))).toThrow('ENOENT');
  });

  test('a data folder that cannot be made is one clear sentence', () => {
    writeFileSync(join(folder, 'data'), 'a file');
    expect(() => prepareKeyFiles(config())).toThrow(/^DATA_DIR ".*" cannot be (made|written)|^DATA_DIR: /);
    expect(() => prepareKeyFiles(config())).toThrow(ConfigError);
  });

  test('without a key and without a file there is no silent default', () => {
    expect(() => masterKeyOf(config())).toThrow(/^GATEWAY_MASTER_KEY is not set/);
  });
});
