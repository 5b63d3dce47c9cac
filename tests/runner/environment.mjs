/** Jest's `testEnvironment` option: suites run in the worker's own realm, so there is nothing to set up. */
export default class Environment {
  /** What jest would write into the suite's global object stays away from the process's own. */
  global = {};
  async setup() {}
  async teardown() {}
  /** There is none; jest insists on the method. */
  getVmContext() {
    return null;
  }
}
