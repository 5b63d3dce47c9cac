/**
 * Jest's `testSequencer` option: slow suites first, then those that start gateways or browsers, then the others. Browsers compute all the time, and suites
 * with gateways wait half of it: the ones are spread evenly among the others, so that the cores are busy and never overrun.
 */
import { join, relative } from 'node:path';
import { slowSuites } from '../../scripts/suites.mjs';

const root = join(import.meta.dirname, '../..');
const heavy = /^(?:tests\/(?:scenarios|browser)|deploy|packages\/(?:bus|storage|distributed-state)\/test)\//;

function rank(path) {
  const name = relative(root, path);
  const slow = slowSuites.indexOf(name);
  if (slow >= 0) return slow;
  return slowSuites.length + (heavy.test(name) ? 0 : 1);
}

const isBrowser = ({ path }) => relative(root, path).startsWith('tests/browser/');

/** Both lists in their order, the shorter one's entries at even distances. */
function spread(many, few) {
  const merged = many.map((test, index) => ({ test, at: (index + 0.5) / many.length }));
  merged.push(...few.map((test, index) => ({ test, at: (index + 0.5) / few.length })));
  return merged.sort((one, other) => one.at - other.at).map(({ test }) => test);
}

export default class Sequencer {
  sort(tests) {
    const sorted = [...tests].sort((one, other) => rank(one.path) - rank(other.path) || one.path.localeCompare(other.path));
    const byKind = Object.groupBy(sorted, ({ path }) => (rank(path) < slowSuites.length ? 'slow' : rank(path) === slowSuites.length ? 'heavy' : 'light'));
    const { slow = [], heavy = [], light = [] } = byKind;
    const browsers = heavy.filter(isBrowser);
    return [
      ...slow,
      ...spread(
        heavy.filter((test) => !browsers.includes(test)),
        browsers,
      ),
      ...light,
    ];
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}

  /** `--shard`: each part takes turns in the order. */
  shard(tests, { shardIndex, shardCount }) {
    return this.sort(tests).filter((_, index) => index % shardCount === shardIndex - 1);
  }
}
