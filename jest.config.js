/** One runner for the whole workspace. TypeScript is only stripped here; `tsc` checks it. */
export default {
  testMatch: ['<rootDir>/{packages,services,deploy,tests}/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { module: { type: 'es6' }, jsc: { target: 'es2024', parser: { syntax: 'typescript' } } }] },
  testEnvironment: 'node',
  testTimeout: 30_000,
  maxWorkers: 2,
};
