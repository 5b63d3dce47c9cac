import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { claimFolder } from './claim-folder.ts';

const home = mkdtempSync(join(tmpdir(), 'gateway-claim-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
let parents = 0;
const freshParent = (): string => join(home, `${parents++}`);
const nameOf = ({ folder }: { folder: string }): string => basename(folder);

test('each has its own, and one that was given back is taken again', () => {
  const parent = freshParent();
  const [first, second] = [claimFolder(parent, 'edge'), claimFolder(parent, 'edge')];
  const other = claimFolder(parent, 'router');
  expect([first, second, other].map(nameOf)).toEqual(['edge-0', 'edge-1', 'router-0']);
  first.release();
  const again = claimFolder(parent, 'edge');
  expect(nameOf(again)).toBe('edge-0');
  for (const one of [again, second, other]) one.release();
});

test('a folder is claimed without a byte on the disk, which may be full', () => {
  const claimed = claimFolder(freshParent(), 'edge');
  expect(readdirSync(claimed.folder)).toEqual(['lock']);
  expect(statSync(join(claimed.folder, 'lock')).size).toBe(0);
  claimed.release();
});

test('what a process that was killed left behind is found, and not before it is dead', async () => {
  const parent = freshParent();
  const script = `import(${JSON.stringify(join(import.meta.dirname, 'claim-folder.ts'))}).then(({ claimFolder }) => {
    process.stdout.write(claimFolder(${JSON.stringify(parent)}, 'edge').folder); setInterval(() => {}, 1000); })`;
  const child = spawn(process.execPath, ['--no-warnings', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    const [folder] = (await once(child.stdout, 'data')) as [Buffer];
    expect(basename(folder.toString())).toBe('edge-0');
    const beside = claimFolder(parent, 'edge');
    expect(nameOf(beside)).toBe('edge-1');
    child.kill('SIGKILL');
    await ended;
    const after = claimFolder(parent, 'edge');
    expect(nameOf(after)).toBe('edge-0');
    for (const one of [beside, after]) one.release();
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
});

test('of an earlier version: the folder of a living process stays its own, that of a dead one is taken', () => {
  const parent = freshParent();
  for (const [number, pid] of [process.ppid, 2 ** 30, process.pid].entries()) {
    mkdirSync(join(parent, `edge-${number}`), { recursive: true });
    writeFileSync(join(parent, `edge-${number}`, 'pid'), String(pid));
  }
  const claimed = [claimFolder(parent, 'edge'), claimFolder(parent, 'edge'), claimFolder(parent, 'edge')];
  expect(claimed.map(nameOf)).toEqual(['edge-1', 'edge-2', 'edge-3']);
  expect(existsSync(join(parent, 'edge-0', 'pid'))).toBe(true);
  for (const one of claimed) one.release();
});
