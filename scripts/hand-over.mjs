/**
 * Runs the program that does the work, and ends with it: signals are passed on, and it does not outlive whoever started us. Plain JavaScript without
 * dependencies, as `bootstrap.mjs`, which may run on an older Node.
 *
 * npm passes SIGINT and SIGTERM on to what it runs, but is ended by any other signal without a word. So where npm started us its process is watched. The
 * program is started with a channel, whose end tells it that this process is gone, even by SIGKILL.
 */
import { spawn } from 'node:child_process';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const lookMs = 500;

/** Does not come back: the process exits as the program does. `fail` is told when it cannot be started. */
export function handOver(program, args, options, fail) {
  const parent = process.ppid;
  const child = spawn(program, args, { ...options, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  let told = false;
  const pass = (signal) => {
    told = true;
    child.kill(signal);
  };
  for (const signal of signals) process.on(signal, () => pass(signal));
  // Started by anything else, a background process may outlive its shell.
  if (process.env.npm_lifecycle_event !== undefined) {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      // A second signal means "at once": who was told already is not told again.
      if (!told) pass('SIGTERM');
    }, lookMs);
  }
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
  child.on('error', fail);
}
