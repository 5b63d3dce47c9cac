/**
 * Runs tests with jest and ends with the line `N passed, N failed`.
 *
 *   npm test                    all suites but the long ones
 *   npm test -- --fast          those of them that need no server, browser or process
 *   npm test -- PATTERN …       what jest makes of the arguments, long suites too
 *   npm run test:long           the long suites, one group after the other; `-- --minutes 20` leaves out the groups that no longer fit
 *
 * A suite that fails is not run again: a test that passes only sometimes is a fault like any other.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { fastSuites, longGroups, ordinarySuites } from './suites.mjs';

/** A larger young generation takes a seventh of the CPU of suites that compute; helpers of its collector wait for one another where cores are shared. */
const flags = ['--no-warnings', '--max-semi-space-size=64', '--no-parallel-scavenge'];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** So many of the slowest suites are named at the end of a whole run. */
const slowestNamed = 15;
const { values, rest } = ownOptions(process.argv.slice(2));
/** A word that belongs to no option says which suites are meant; a number is the value of one, as in `-w 1`. */
const whole = rest.every((argument) => argument.startsWith('-') || /^\d+%?$/.test(argument));

// Built before two workers ask for it at once.
if (whole && !values.fast && !rest.includes('--listTests'))
  execFileSync(process.execPath, ['scripts/test-bundle.mjs'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
const runs = values.long ? runLong(Number(values.minutes ?? Number.POSITIVE_INFINITY)) : [runOrdinary()];
const suites = runs.flatMap((run) => run.suites);
const count = (what) => suites.reduce((sum, suite) => sum + suite[what], 0);
const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')];
// In CI every suite has what it needs: one that leaves itself out there proves nothing.
const skippedInCi = process.env.CI === 'true' && skipped > 0;
if (skippedInCi) process.stderr.write(`${skipped} tests were skipped, and in CI none may be\n`);
if (whole) {
  const slowest = suites.toSorted((one, other) => other.seconds - one.seconds).slice(0, slowestNamed);
  process.stderr.write(`slowest suites:\n${slowest.map(({ name, seconds }) => `  ${seconds} s ${relative(root, name)}\n`).join('')}`);
}
// Once more at the end, where the log of a long run is read first.
process.stdout.write(suites.flatMap(({ name, failures }) => failures.map((one) => `failed: ${relative(root, name)}: ${one}\n`)).join(''));
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exit(runs.every(({ ended }) => ended) && failed === 0 && passed > 0 && !skippedInCi ? 0 : 1);

/** Ours, and all the others, which are jest's. */
function ownOptions(given) {
  const options = { fast: { type: 'boolean' }, long: { type: 'boolean' }, minutes: { type: 'string' } };
  const { values, tokens } = parseArgs({ args: given, options, strict: false, allowPositionals: true, tokens: true });
  const own = new Set();
  for (const token of tokens) {
    if (token.kind !== 'option' || !Object.hasOwn(options, token.name)) continue;
    own.add(token.index);
    if (token.value !== undefined && !token.inlineValue) own.add(token.index + 1);
  }
  return { values, rest: given.filter((_, index) => !own.has(index)) };
}

function runOrdinary() {
  if (values.fast) return jest([...rest, '--runTestsByPath', ...fastSuites(root)]);
  if (!whole) return jest(rest);
  process.stderr.write(`left to npm run test:long: ${longGroups.map(({ name, suites }) => `${name} (${suites.length} suites)`).join(', ')}\n`);
  const hasWorkers = rest.some((argument) => /^(?:-w|-i|--maxWorkers|--runInBand)/.test(argument));
  return jest([...(hasWorkers ? [] : [`--maxWorkers=${ordinaryWorkers()}`]), ...rest, '--runTestsByPath', ...ordinarySuites(root)]);
}

/** Two for each core, since ordinary suites wait for timers, pages and processes half of the time. Long ones have the number of `jest.config.js`. */
function ordinaryWorkers() {
  const memory = Math.floor(totalmem() / 2 ** 31);
  return Math.max(2, Math.min(2 * availableParallelism(), memory, 8));
}

/** Names what it leaves out; the first group is run however short the time. */
function runLong(minutes) {
  const began = performance.now();
  return longGroups.flatMap((group, index) => {
    const left = minutes - (performance.now() - began) / 60_000;
    if (index > 0 && left < group.minutes) {
      process.stderr.write(
        `LEFT OUT: ${group.name}, which takes about ${group.minutes} minutes of ${Math.max(0, Math.round(left))}: ${group.suites.join(', ')}\n`,
      );
      return [];
    }
    process.stderr.write(`long suites: ${group.name}\n`);
    if (group.prepare && spawnSync('bash', [join(root, group.prepare)], { stdio: ['ignore', 'inherit', 'inherit'] }).status !== 0) {
      process.stderr.write(`LEFT OUT: ${group.name}, as ${group.prepare} says above: ${group.suites.join(', ')}\n`);
      return [];
    }
    return [jest([...rest, '--runTestsByPath', ...group.suites], group.env)];
  });
}

/** `ended`: jest has run to its end, and whatever failed is listed in `suites`. */
function jest(args, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-test-'));
  const report = join(folder, 'report.json');
  const run = spawnSync(process.execPath, [...flags, 'node_modules/jest/bin/jest.js', '--json', `--outputFile=${report}`, ...args], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  });
  try {
    const { testResults, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(report, 'utf8'));
    const suites = testResults.map(({ name, status, message, assertionResults, startTime, endTime }) => {
      const number = (...ends) => assertionResults.filter((one) => ends.includes(one.status)).length;
      const failures = assertionResults.filter((one) => one.status === 'failed').map((one) => `${one.fullName}: ${summaryOf(one.failureMessages.join('\n'))}`);
      // A suite that could not even be loaded has no tests to count: it is one failure.
      return {
        name,
        seconds: Math.round((endTime - startTime) / 1000),
        passed: number('passed'),
        failed: Math.max(number('failed'), status === 'failed' ? 1 : 0),
        failures: failures.length > 0 || status !== 'failed' ? failures : [summaryOf(message)],
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

/** What went wrong, on one line of at most 300 characters. */
function summaryOf(message) {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .map((line) => line.trim());
  return lines
    .filter((line) => line !== '' && !line.startsWith('at '))
    .join(' · ')
    .slice(0, 300);
}
