/** What processes and threads load at their start, each time: nothing that they do not use. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../../..');

/** Files that importing the module loads, without those that it imports on need. */
async function loadedBy(file: string): Promise<string[]> {
  const program = `
    const { registerHooks } = require('node:module');
    registerHooks({ load: (url, context, next) => { console.log(url); return next(url, context); } });
    // The thread of the rows opens its file at once.
    require('node:worker_threads').workerData = { file: ':memory:' };
    import(${JSON.stringify(join(root, file))});`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', '-e', program], { cwd: root, maxBuffer: 2 ** 26 });
  return stdout.split('\n').filter((line) => line.startsWith('file:'));
}

const naming = (files: readonly string[], text: string): string[] => files.filter((file) => file.includes(text));

test('the thread of the rows makes no schemas of requests and configuration', async () => {
  const files = await loadedBy('packages/storage/src/thread/main.ts');
  expect(naming(files, '/storage/src/requests/request-stats.ts')).toHaveLength(1);
  expect(naming(files, '/zod/')).toEqual([]);
  expect(naming(files, '/contracts/src/index.ts')).toEqual([]);
});

test('a gateway in one process does not load the library of NATS', async () => {
  const files = await loadedBy('deploy/cli/src/commands/up.ts');
  expect(naming(files, '/bus/src/memory/memory-bus.ts')).toHaveLength(1);
  expect(naming(files, '@nats-io')).toEqual([]);
});
