/** The program of gateway processes that tests start. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');
let entry: Promise<string> | undefined;

/** As images carry it: a bundle starts in a third of the time that the sources take. `GATEWAY_FROM=sources` gives those, for a debugger. */
export const gatewayEntry = (): Promise<string> => (entry ??= findEntry());

async function findEntry(): Promise<string> {
  if (process.env['GATEWAY_FROM'] === 'sources') return join(root, 'deploy/cli/src/main.ts');
  return (await promisify(execFile)(process.execPath, [join(root, 'scripts/test-bundle.mjs')], { cwd: root })).stdout;
}

/** For the environment of such a process. Shared by all that a run of the suites starts: compiling anew is a third of each start. */
export const compileCache = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile') };
