/** One configuration for the whole workspace. TypeScript is only stripped here; `tsc` checks it. */
export default {
  testMatch: ['<rootDir>/{packages,services,deploy,tests}/**/*.test.ts'],
  // The agents' suite installs programs from the registry: it runs when it is asked for.
  testPathIgnorePatterns: ['/node_modules/', ...(process.env.AGENTS === '1' ? [] : ['<rootDir>/tests/agents/'])],
  // Suites are loaded by Node itself, and what they import only once for each worker.
  runtime: '<rootDir>/tests/runner/runtime.mjs',
  testEnvironment: '<rootDir>/tests/runner/environment.mjs',
  testSequencer: '<rootDir>/tests/runner/sequencer.mjs',
  transform: {},
  injectGlobals: false,
  // A wait that is over in a second takes many times that on a machine that does other things besides.
  testTimeout: 120_000,
  // A whole run has more (scripts/test.mjs).
  maxWorkers: 3,
  // A worker that has grown is replaced.
  workerIdleMemoryLimit: '1GB',
};
