/** Runs the tests with jest and ends with the line `N passed, N failed`. Arguments go to jest. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'model-gateway-test-'));
const report = join(folder, 'report.json');
const args = [
  '--experimental-vm-modules',
  '--no-warnings',
  'node_modules/jest/bin/jest.js',
  '--forceExit',
  '--json',
  `--outputFile=${report}`,
  ...process.argv.slice(2),
];
if (process.env.AGENTS !== '1') process.stderr.write('tests/agents did not run: AGENTS=1 runs it (it installs command-line agents from the registry)\n');
const run = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
let result;
try {
  result = JSON.parse(readFileSync(report, 'utf8'));
} catch {
  process.stderr.write('jest left no report\n');
}
rmSync(folder, { recursive: true, force: true });
const passed = result?.numPassedTests ?? 0;
// A suite that could not even be loaded has no tests to count: it is one failure.
const failed = (result?.numFailedTests ?? 0) + (result?.numRuntimeErrorTestSuites ?? 0);
const skipped = result?.numPendingTests ?? 0;
// In CI every suite has what it needs: one that leaves itself out there proves nothing.
const leftOut = process.env.CI === 'true' && skipped > 0;
if (leftOut) process.stderr.write(`${skipped} tests were skipped, and in CI none may be\n`);
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exit(run.status === 0 && failed === 0 && passed > 0 && !leftOut ? 0 : 1);
