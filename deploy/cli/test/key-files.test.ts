import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ConfigError, loadConfig } from '@model-gateway/config';
import { prepareKeyFiles } from '../src/key-files.ts';

/** Rights mean nothing to root: then the work is done as somebody else. */
function asSomebody<T>(work: () => T): T {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

test('a data folder that may not be written stops the start, also when no key file has to be made', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-keys-'));
  const config = loadConfig({ env: { CONFIG_FILE: '/dev/null', DATA_DIR: folder, GATEWAY_MASTER_KEY: randomBytes(32).toString('base64') } });
  try {
    prepareKeyFiles(config);
    expect(readdirSync(folder)).toEqual([]);
    chmodSync(folder, 0o555);
    const fault: unknown = asSomebody(() => {
      try {
        return prepareKeyFiles(config);
      } catch (error) {
        return error;
      }
    });
    expect(fault).toBeInstanceOf(ConfigError);
    expect((fault as ConfigError).message).toBe(`DATA_DIR "${folder}" cannot be written (EACCES); accepted: a folder that can be written`);
  } finally {
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true });
  }
});
