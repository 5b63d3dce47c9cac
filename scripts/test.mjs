/**
 * Runs the tests with jest and ends with the line `N passed, N failed`. Arguments go to jest.
 *
 * A whole run takes some fifteen minutes of processes, servers and browsers on all processors. When a few suites failed in it they are run once more by
 * themselves, and what they are then counts; a suite that passes only then is named at the end, for it is to be mended all the same.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const own = process.argv.slice(2);
/** More than these are no bad luck. */
const mostAgain = 4;

if (process.env.AGENTS !== '1') process.stderr.write('tests/agents did not run: AGENTS=1 runs it (it installs command-line agents from the registry)\n');
let result = jest(own);
const unlucky = [];
const broken = own.length === 0 ? result.suites.filter(({ failed }) => failed > 0) : [];
if (broken.length > 0 && broken.length <= mostAgain) {
  process.stderr.write(`\nonce more, by themselves: ${broken.map(({ name }) => relative(root, name)).join(', ')}\n`);
  const again = jest(['--runInBand', '--runTestsByPath', ...broken.map(({ name }) => name)]);
  // One that did not come back is as it was.
  const latest = new Map(again.suites.map((suite) => [suite.name, suite]));
  for (const { name } of broken) if (latest.get(name)?.failed === 0) unlucky.push(relative(root, name));
  result = { ...result, suites: result.suites.map((suite) => latest.get(suite.name) ?? suite) };
}

const count = (what) => result.suites.reduce((sum, suite) => sum + suite[what], 0);
const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')];
// In CI every suite has what it needs: one that leaves itself out there proves nothing.
const leftOut = process.env.CI === 'true' && skipped > 0;
if (leftOut) process.stderr.write(`${skipped} tests were skipped, and in CI none may be\n`);
if (unlucky.length > 0) process.stderr.write(`failed at first, passed by themselves (what failed stands above, and is to be mended): ${unlucky.join(', ')}\n`);
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
    const suites = testResults.map(({ name, status, assertionResults }) => {
      const number = (...ends) => assertionResults.filter((one) => ends.includes(one.status)).length;
      // A suite that could not even be loaded has no tests to count: it is one failure.
      return { name, passed: number('passed'), failed: Math.max(number('failed'), status === 'failed' ? 1 : 0), skipped: number('pending') };
    });
    return { suites, ended: run.status === 0 || numFailedTests + numRuntimeErrorTestSuites > 0 };
  } catch {
    process.stderr.write('jest left no report\n');
    return { suites: [], ended: false };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
