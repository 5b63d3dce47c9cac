/**
 * Settings of V8 that cannot be given on the command line for free: Node's own modules are kept compiled for the default settings, and a process with others
 * compiles each of them anew (80 ms of CPU at each start). They are read whenever the collector runs, so they are set once everything is loaded.
 */
import { setFlagsFromString } from 'node:v8';
import { constants, createContext, runInContext } from 'node:vm';

const settings = [
  // Bodies lie outside of the heap: counted by themselves, each 64 MB of them have all of it collected.
  '--external-memory-accounted-in-global-limit',
  // Several would leave requests a fraction of the core that they share.
  '--concurrent-marking-max-worker-num=1',
  // For `ChunkGarbage` of packages/collections.
  '--expose-gc',
];

/** Once in a process, which is to serve requests; docs/operations.md says what each is good for. */
export function applyV8Settings(): void {
  for (const setting of settings) setFlagsFromString(setting);
  // A context of its own, since the function is made with one. Node's usual kind (`runInNewContext`) costs every request a sixth of its CPU.
  (globalThis as { gc?: unknown }).gc ??= runInContext('gc', createContext(constants.DONT_CONTEXTIFY));
}
