/** Which suites each kind of test run takes: the quick ones that need no server (`--fast`), the long ones (`test:long`), and the order in which they start. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

const folders = ['packages', 'services', 'deploy', 'tests'];
/** Helpers that start something. */
const starts = /^tests\/(?:agents|browser)\/|^tests\/support\/(?:compose|containers|gateway|managed-process|nats-server|postgres|redis-server)\.ts$/;

/**
 * What `npm test` leaves to `npm run test:long`, by group, the most important group first: suites that break, freeze or kill what runs, draw cases at
 * random by the thousand, or install programs. `minutes`: of an idle machine with two cores, as a guess for a run with a limit. `prepare`: a script that gets
 * what the group needs, or says why it cannot.
 */
export const longGroups = [
  {
    name: 'chaos',
    minutes: 12,
    suites: [
      'tests/scenarios/cut-at-every-byte.test.ts',
      'tests/scenarios/drain.test.ts',
      'tests/scenarios/kill.test.ts',
      'tests/scenarios/stored-turns/kill.test.ts',
      'tests/scenarios/stored-turns/resumable-load.test.ts',
      'tests/scenarios/frozen.test.ts',
      'tests/scenarios/audit-ledger.test.ts',
      'tests/scenarios/configuration-churn.test.ts',
      'tests/scenarios/hostile-connections.test.ts',
      'tests/scenarios/hostile-scripts.test.ts',
      'packages/bus/test/nats-faults.test.ts',
      'packages/bus/test/nats-dead-peers.test.ts',
      'packages/storage/test/outage.test.ts',
      'services/script-runner/test/hostile.test.ts',
    ],
  },
  {
    name: 'fuzz',
    minutes: 6,
    suites: [
      'packages/protocols/test/fuzz/fuzz.test.ts',
      'packages/protocols/test/laws/chunking.test.ts',
      'services/stats/test/malformed-events.test.ts',
      'tests/scenarios/fuzzed-replies.test.ts',
      'tests/scenarios/fuzzed-requests.test.ts',
      'tests/scenarios/hostile-bus.test.ts',
    ],
  },
  {
    name: 'chart',
    minutes: 5,
    prepare: 'tests/chart/tools.sh',
    suites: ['tests/chart/chart.test.ts', 'tests/chart/network-policies.test.ts', 'tests/chart/kubernetes-schemas.test.ts'],
  },
  { name: 'containers', minutes: 3, suites: ['tests/scenarios/compose.test.ts', 'tests/support/containers.test.ts'] },
  { name: 'chaos-run', minutes: 5, suites: ['tests/chaos/chaos.test.ts'] },
  // Base images and those of two revisions are built first, which takes as long as the suite.
  { name: 'images', minutes: 20, prepare: 'tests/containers/prepare.sh', suites: ['tests/containers/containers.test.ts'] },
  {
    name: 'agents',
    minutes: 60,
    /** They install programs from the registry. */
    env: { AGENTS: '1' },
    suites: suitesBelow(join(import.meta.dirname, '..', 'tests/agents')).map((path) => `tests/agents/${basename(path)}`),
  },
];

/** Started first, so that no worker begins a long one when the other has nothing left to do. */
export const slowSuites = [
  'tests/scenarios/streams.test.ts',
  'tests/request-matrix/request-matrix.test.ts',
  'tests/browser/pages.test.ts',
  'tests/scenarios/cut-at-every-byte.test.ts',
  'tests/scenarios/drain.test.ts',
  'packages/bus/test/nats-faults.test.ts',
  'tests/scenarios/hostile-bus.test.ts',
  'tests/scenarios/kill.test.ts',
  'tests/scenarios/frozen.test.ts',
];

export const longSuites = () => longGroups.flatMap(({ suites }) => suites);

/** All others, in order: what `npm test` runs. */
export const ordinarySuites = (root) => allSuites(root).filter((path) => !longSuites().includes(relative(root, path)));

function allSuites(root) {
  return folders.flatMap((folder) => suitesBelow(join(root, folder))).sort();
}

/** Not through installed packages, whose links lead back to the packages of this repository. */
function suitesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : suitesBelow(path);
    return entry.name.endsWith('.test.ts') ? [path] : [];
  });
}

/** Those of them that need nothing but Node: no server, no browser and no process of their own, neither in them nor in what they import by a relative path. */
export function fastSuites(root) {
  const known = new Map();
  const isFast = (path) => {
    // Files that import one another in a circle are judged by what else they import.
    if (known.has(path)) return known.get(path);
    known.set(path, true);
    const fast = !starts.test(relative(root, path)) && !startsProcess(readFileSync(path, 'utf8')) && imports(path).every(isFast);
    known.set(path, fast);
    return fast;
  };
  return ordinarySuites(root).filter(isFast);
}

/** Only of tests and their helpers: a suite in one process may well import a module that could start others. */
const startsProcess = (text) => /from '@jest\/globals'/.test(text) && /from 'node:(?:child_process|cluster)'/.test(text);

const imports = (path) =>
  [...readFileSync(path, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g)]
    .map(([, to]) => resolve(dirname(path), to))
    .filter((to) => existsSync(to));
