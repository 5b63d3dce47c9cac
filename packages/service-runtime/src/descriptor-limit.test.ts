import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { descriptorLimit } from './descriptor-limit.ts';

test('is what the system grants this process, and the same when asked again', () => {
  const limit = descriptorLimit();
  expect(limit).toBeGreaterThan(10);
  expect(descriptorLimit()).toBe(limit);
});

test('follows the limit that a process was started under', () => {
  const source = join(import.meta.dirname, 'descriptor-limit.ts');
  const script = `import(${JSON.stringify(source)}).then(({ descriptorLimit }) => console.log(descriptorLimit()))`;
  const described = execFileSync('sh', ['-c', 'ulimit -n 300 && exec "$0" -e "$1"', process.execPath, script], { encoding: 'utf8' });
  expect(Number(described)).toBe(300);
});
