/** Small parts of the command line: key files. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Config, ConfigError, loadConfig } from '@model-gateway/config';
import { createKeyring } from '@model-gateway/secrets';
import { keyringOf, masterKeyOf, prepareKeyFiles } from '../src/key-files.ts';

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

  test('a file that holds no random key is one line that names it', () => {
    prepareKeyFiles(config());
    writeFileSync(join(folder, 'data', 'master.key'), Buffer.from('correct horse battery staple, ok').toString('base64'));
    expect(() => keyringOf(config())).toThrow(/^DATA_DIR: master\.key: .*is readable text/);
    expect(() => keyringOf(config())).toThrow(ConfigError);
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
