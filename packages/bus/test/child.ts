/** Starts the peer process and waits until it is in place. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

export async function startPeer(role: 'serve' | 'open' | 'mute', url: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--no-warnings', join(import.meta.dirname, 'peer-process.ts'), role, url], { stdio: ['pipe', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`the peer process ended with ${code}`)));
  });
  return child;
}

export async function endPeer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGCONT');
  child.kill('SIGKILL');
  await ended;
}
