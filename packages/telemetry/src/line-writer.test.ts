import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createLineWriter } from './line-writer.ts';

const lostLine = (lines: number): string => `lost ${lines}\n`;

async function until(check: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 20_000; !check(); ) {
    if (Date.now() > deadline) throw new Error('waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('lines are written in order, and a flush writes what waits', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lines-'));
  const file = join(folder, 'log');
  const fd = openSync(file, 'w');
  try {
    const writer = createLineWriter({ fd, max: 1 << 20, lostLine });
    for (let i = 0; i < 500; i++) writer.write(`line ${i} ä\n`);
    await until(() => readFileSync(file, 'utf8').endsWith('line 499 ä\n'));
    expect(readFileSync(file, 'utf8')).toBe(Array.from({ length: 500 }, (_, i) => `line ${i} ä\n`).join(''));
  } finally {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  }
});

test('lines logged in the turn of a flush are written in order after earlier ones', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lines-'));
  const file = join(folder, 'log');
  const fd = openSync(file, 'w');
  try {
    const writer = createLineWriter({ fd, max: 1 << 20, lostLine });
    for (const line of ['one\n', 'two\n', 'last\n']) writer.write(line);
    writer.flush();
    expect(readFileSync(file, 'utf8')).toBe('one\ntwo\nlast\n');
  } finally {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  }
});

test('a slow reader costs neither time nor memory: excess lines are dropped, which is logged when it reads again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lines-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  // Both ends without waiting, as a pipe of a process that looks at its standard output is.
  const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    const writer = createLineWriter({ fd, max: 100_000, lostLine });
    const line = `${'x'.repeat(999)}\n`;
    for (let i = 0; i < 1000; i++) {
      writer.write(line);
      if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    let text = '';
    const buffer = Buffer.alloc(1 << 16);
    const read = (): void => {
      try {
        text += buffer.toString('latin1', 0, readSync(fd, buffer));
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe('EAGAIN');
      }
    };
    const lost = (): number => [...text.matchAll(/lost (\d+)\n/g)].reduce((sum, [, lines]) => sum + Number(lines), 0);
    // Every line is there or counted.
    await until(() => {
      read();
      return text.split(line).length - 1 + lost() === 1000;
    });
    expect(lost()).toBeGreaterThan(500);
  } finally {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  }
});

test.each(['/dev/full', 'a reader who left'])('%s: the process continues, and ends when asked to', async (where) => {
  const script = `
    const { createLogger } = await import(process.argv[1]);
    const logger = createLogger({ level: 'info', name: 'p' });
    for (let i = 0; i < 5; i++) {
      logger.error({ i }, 'line');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    logger.fatal('last');
    logger.flush();
    process.stderr.write('went on');
    process.exit(7);`;
  const fd = where === '/dev/full' ? openSync('/dev/full', 'w') : undefined;
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script, join(import.meta.dirname, 'index.ts')], {
    stdio: ['ignore', fd ?? 'pipe', 'pipe'],
  });
  child.stdout?.destroy();
  let described = '';
  child.stderr!.on('data', (text) => {
    described += text;
  });
  const [code] = await once(child, 'close');
  if (fd !== undefined) closeSync(fd);
  expect([described, code]).toEqual(['went on', 7]);
});
