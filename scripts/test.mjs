/**
 * Runs the tests with jest and ends with the line `N passed, N failed`. Arguments go to jest.
 *
 * A suite that fails is not run again: a test that passes only sometimes is a fault like any other.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fastSuites } from './fast-suites.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const given = process.argv.slice(2);
/** `--fast`: what needs no server, browser or process. */
const fast = given.includes('--fast');
const others = given.filter((argument) => argument !== '--fast');
const own = fast ? [...others, '--runTestsByPath', ...fastSuites(root)] : others;
/** So many of the slowest suites are named at the end of a whole run. */
const slowestNamed = 15;

if (!fast && process.env.AGENTS !== '1')
  process.stderr.write('tests/agents did not run: AGENTS=1 runs it (it installs command-line agents from the registry)\n');
const result = jest(own);

const count = (what) => result.suites.reduce((sum, suite) => sum + suite[what], 0);
const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')];
// In CI every suite has what it needs: one that leaves itself out there proves nothing.
const leftOut = process.env.CI === 'true' && skipped > 0;
if (leftOut) process.stderr.write(`${skipped} tests were skipped, and in CI none may be\n`);
if (others.length === 0) {
  const slowest = result.suites.toSorted((one, other) => other.seconds - one.seconds).slice(0, slowestNamed);
  process.stderr.write(`slowest suites:\n${slowest.map(({ name, seconds }) => `  ${seconds} s ${relative(root, name)}\n`).join('')}`);
}
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exit(result.ended && failed === 0 && passed > 0 && !leftOut ? 0 : 1);

/** `ended`: jest has run to its end, and whatever failed stands in `suites`. */
function jest(more) {
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-test-'));
  const report = join(folder, 'report.json');
  const args = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', '--forceExit', '--json', `--outputFile=${report}`, ...more];
  const run = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    const { testResults, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(report, 'utf8'));
    const suites = testResults.map(({ name, status, assertionResults, startTime, endTime }) => {
      const number = (...ends) => assertionResults.filter((one) => ends.includes(one.status)).length;
      // A suite that could not even be loaded has no tests to count: it is one failure.
      return {
        name,
        seconds: Math.round((endTime - startTime) / 1000),
        passed: number('passed'),
        failed: Math.max(number('failed'), status === 'failed' ? 1 : 0),
        skipped: number('pending'),
      };
    });
    return { suites, ended: run.status === 0 || numFailedTests + numRuntimeErrorTestSuites > 0 };
  } catch {
    process.stderr.write('jest left no report\n');
    return { suites: [], ended: false };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
