/**
 * Runs the program that does the work, and ends with it: signals are passed on, and it does not outlive the process that started it. Plain JavaScript without
 * dependencies, as `bootstrap.mjs`, which may run on an older Node.
 *
 * npm passes SIGINT and SIGTERM on to what it runs, but is ended by any other signal without a word. So where npm started us its process is watched. The
 * program is started with a channel, which closes when this process is gone, even by SIGKILL.
 */
import { spawn } from 'node:child_process';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const lookMs = 500;

/** Does not come back: the process exits as the program does. `fail` is called when it cannot be started. */
export function handOver(program, args, options, fail) {
  const parent = process.ppid;
  const child = spawn(program, args, { ...options, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  let stopping = false;
  const pass = (signal) => {
    stopping = true;
    child.kill(signal);
  };
  for (const signal of signals) process.on(signal, () => pass(signal));
  // Started by anything else, a background process may outlive its shell.
  if (process.env.npm_lifecycle_event !== undefined) {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      // A second signal means "at once": a process that is stopping already is not asked again.
      if (!stopping) pass('SIGTERM');
    }, lookMs);
  }
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
  child.on('error', fail);
}
