/**
 * Jest's `runtime` option: loads suites with Node's own module loader instead of a virtual machine for each suite. A worker so loads every module once,
 * not once for each suite; TypeScript is stripped by Node and what is compiled stays in Node's compile cache between runs.
 *
 * What suites share through it: the modules of the gateway and of the helpers. Environment variables and the working folder are put back after each suite.
 */
import { createRequire, enableCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
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
    return import(pathToFileURL(path).href);
  }

  teardown() {
    process.chdir(this.#folder);
    for (const name of Object.keys(process.env)) if (!Object.hasOwn(this.#environment, name)) delete process.env[name];
    Object.assign(process.env, this.#environment);
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

export { Runtime as 'module.exports' };
