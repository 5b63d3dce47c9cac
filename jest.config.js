/** One runner for the whole workspace. TypeScript is only stripped here; `tsc` checks it. */
export default {
  testMatch: ['<rootDir>/{packages,services,deploy,tests}/**/*.test.ts'],
  // The agents' suite installs programs from the registry: it runs when it is asked for.
  testPathIgnorePatterns: ['/node_modules/', ...(process.env.AGENTS === '1' ? [] : ['<rootDir>/tests/agents/'])],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { module: { type: 'es6' }, jsc: { target: 'es2024', parser: { syntax: 'typescript' }, experimental: { keepImportAttributes: true } } },
    ],
  },
  // Generated cases are the same in every run.
  moduleNameMapper: { '^fast-check$': '<rootDir>/tests/support/fixed-draws.mjs' },
  testEnvironment: 'node',
  // A wait that is over in a second takes many times that on a machine that does other things besides.
  testTimeout: 120_000,
  maxWorkers: 2,
  // Modules of a suite are not let go of by the virtual machines they ran in: a worker that has grown is replaced.
  workerIdleMemoryLimit: '1GB',
};
