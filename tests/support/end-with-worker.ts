/** Ends processes with the process of the suites, however that one ends: jest kills a worker that has grown, which leaves it no time for handlers. */
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Waits for the end of its input, a pipe that this process alone holds. */
const script = 'while read -r line; do :; done; kill -KILL $1 2> /dev/null; shift; rm -rf "$@"';

/** Kills the processes and removes the folders once this process is gone. Gives what calls it off. */
export function endWithWorker(pids: readonly number[], folders: readonly string[]): () => void {
  const shell = spawn('sh', ['-c', script, 'sh', pids.join(' '), ...folders], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  shell.unref();
  (shell.stdin as unknown as Socket).unref();
  return () => void shell.kill('SIGKILL');
}
