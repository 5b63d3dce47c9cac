/**
 * Jest's `runtime` option: loads suites with Node's own module loader instead of a virtual machine for each suite. A worker so loads every module once,
 * not once for each suite; TypeScript is stripped by Node and what is compiled stays in Node's compile cache between runs.
 *
 * What suites share through it: the modules of the gateway and of the helpers. Environment variables and the working folder are put back after each suite.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { createRequire, enableCompileCache, registerHooks } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setSuite } from './suite.mjs';

const root = join(import.meta.dirname, '../..');
const require = createRequire(import.meta.url);
/** Where jest-circus keeps the handlers of its events: those of an earlier suite must not see the next one. */
const handlers = Symbol.for('EVENT_HANDLERS');
/** Imports that suites get something else for. */
const replaced = {
  '@jest/globals': pathToFileURL(join(import.meta.dirname, 'globals.mjs')).href,
  'fast-check': pathToFileURL(join(root, 'tests/support/fixed-draws.mjs')).href,
};

enableCompileCache(join(root, 'node_modules/.cache/compile'));
// Each server and process that a suite starts ends with this process.
process.setMaxListeners(0);
registerHooks({
  resolve: (specifier, context, next) =>
    Object.hasOwn(replaced, specifier) && !context.parentURL?.includes('/node_modules/')
      ? { url: replaced[specifier], format: 'module', shortCircuit: true }
      : next(specifier, context),
});

class Runtime {
  #environment = { ...process.env };
  #folder = process.cwd();
  #suite = '';
  #began = { wall: performance.now(), own: ownCpu(), children: childrenCpu() };

  setGlobalsForRuntime(globals) {
    setSuite(globals);
  }

  /** jest-circus, anew for each suite: it keeps the tree of describe blocks. */
  requireInternalModule(path) {
    delete require.cache[path];
    delete globalThis[handlers];
    return require(path);
  }

  requireModule(path) {
    return require(path);
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(path) {
    this.#suite = path;
    return import(pathToFileURL(path).href);
  }

  teardown() {
    if (process.env.SUITE_COSTS) this.#noteCosts(process.env.SUITE_COSTS);
    process.chdir(this.#folder);
    for (const name of Object.keys(process.env)) if (!Object.hasOwn(this.#environment, name)) delete process.env[name];
    Object.assign(process.env, this.#environment);
  }

  /** What the suite took, and what it has left open: one JSON line. */
  #noteCosts(file) {
    const { wall, own, children } = this.#began;
    const open = {};
    for (const kind of process.getActiveResourcesInfo()) open[kind] = (open[kind] ?? 0) + 1;
    const cost = {
      suite: relative(root, this.#suite),
      seconds: round(performance.now() - wall),
      cpu: round(ownCpu() - own),
      children_cpu: round(childrenCpu() - children),
      rss_mb: Math.round(process.memoryUsage.rss() / 2 ** 20),
      open,
    };
    appendFileSync(file, `${JSON.stringify(cost)}\n`);
  }

  enterTestCode() {}
  leaveTestCode() {}
  getSourceMaps() {
    return null;
  }
  getAllCoverageInfoCopy() {
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

export { Runtime as 'module.exports' };
