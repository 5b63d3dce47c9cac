/** Jest's `testEnvironment` option: suites run in the worker's own realm, so there is nothing to set up. `SUITE_COSTS=file` notes what each suite took. */
import { appendFileSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '../..');
const costsFile = process.env.SUITE_COSTS;
/** What a suite has closed gets so long to be closed before what is open is counted. */
const closingMs = 300;
/** Read by helpers that keep something for the next suite. */
const failed = Symbol.for('model-gateway.suite-failed');

export default class Environment {
  /** What jest would write into the suite's global object stays away from the process's own. */
  global = {};
  #suite;
  #began = { wall: performance.now(), own: ownCpu(), children: childrenCpu() };

  constructor(_config, { testPath }) {
    this.#suite = relative(root, testPath);
  }

  async setup() {
    globalThis[failed] = false;
  }

  handleTestEvent({ name }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') globalThis[failed] = true;
  }

  async teardown() {
    if (!costsFile) return;
    const { wall, own, children } = this.#began;
    const cost = {
      suite: this.#suite,
      seconds: round(performance.now() - wall),
      cpu: round(ownCpu() - own),
      children_cpu: round(childrenCpu() - children),
      rss_mb: Math.round(process.memoryUsage.rss() / 2 ** 20),
      open: {},
    };
    await new Promise((resolve) => setTimeout(resolve, closingMs));
    for (const kind of process.getActiveResourcesInfo()) cost.open[kind] = (cost.open[kind] ?? 0) + 1;
    appendFileSync(costsFile, `${JSON.stringify(cost)}\n`);
  }

  /** There is none; jest insists on the method. */
  getVmContext() {
    return null;
  }
}

const round = (ms) => Math.round(ms / 100) / 10;

/** Milliseconds of this process. */
function ownCpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds of the processes that it started and that have ended; 0 where the system does not say. */
function childrenCpu() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').pop().split(' ');
    // cutime and cstime, in hundredths of a second.
    return (Number(fields[13]) + Number(fields[14])) * 10;
  } catch {
    return 0;
  }
}
