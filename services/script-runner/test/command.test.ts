/** The wall around a slot's process, beside that of the isolate: rights, environment, readable files. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { until } from '../../../tests/support/gateway.ts';
import { readableFolders, slotCommand } from '../src/pool/command.ts';
import { script, startPool } from './support.ts';

const { pool, run } = startPool({ slots: 1, timeoutMs: 20_000 });
afterAll(() => pool.close());

const hasProc = existsSync('/proc/self/status');
const hasSetpriv = ['/usr/bin/setpriv', '/bin/setpriv'].some((path) => existsSync(path));

const statusOf = (pid: number, name: string): string | undefined =>
  new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];

test('a slot gains no right, has no environment, and is nobody where the service is root', async () => {
  expect(await run(script('body.done = 1; return body'))).toMatchObject({ fault: null });
  expect(pool.pids.length).toBeGreaterThan(0);
  if (!hasProc) return;
  // A process that was started ahead becomes nobody once its code is loaded.
  await until(async () => pool.pids.every((pid) => statusOf(pid, 'Uid') !== '0'), 'every slot to be nobody');
  for (const pid of pool.pids) {
    const read = (name: string): string | undefined => statusOf(pid, name);
    expect(read('NoNewPrivs')).toBe(hasSetpriv ? '1' : expect.anything());
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toBe('');
    expect(read('Uid')).not.toBe('0');
    if (process.getuid?.() === 0) expect(Number.parseInt(read('CapEff') ?? '', 16)).toBe(0);
  }
});

test('the process reads the program’s folders, and no other file', () => {
  const { program, args } = slotCommand('{}');
  // The same flags before another program.
  const flags = args.slice(0, -2);
  const attempt = (path: string): string => {
    const code = `try { require('fs').readFileSync(${JSON.stringify(path)}); console.log('read') } catch (error) { console.log(error.code) }`;
    return spawnSync(program, [...flags, '-e', code], { env: {}, cwd: '/' })
      .stdout.toString()
      .trim();
  };
  expect(readableFolders().length).toBeGreaterThan(0);
  expect(attempt(join(import.meta.dirname, '../package.json'))).toBe('read');
  for (const path of ['/etc/passwd', '/proc/self/environ', '/proc/1/environ', '/data/gateway.db'])
    expect([path, attempt(path)]).toEqual([path, 'ERR_ACCESS_DENIED']);
});
