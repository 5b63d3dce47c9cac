/** Jest's `testSequencer` option: slow suites first, then those that start gateways or browsers, then the others. */
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

export default class Sequencer {
  sort(tests) {
    return [...tests].sort((one, other) => rank(one.path) - rank(other.path) || one.path.localeCompare(other.path));
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
