/** Suites over recordings, which are not part of the repository, are declared through this function only. */
import { describe } from '@jest/globals';

/** Runs the suite where its recordings are; elsewhere says in one line that it did not run, and fails when `FIXTURES_REQUIRED=1`. */
export function describeRecorded(present: boolean, what: string): typeof describe | typeof describe.skip {
  if (present) return describe;
  const message = `${what}: the recordings are not here, the suite did not run`;
  if (process.env['FIXTURES_REQUIRED'] === '1') throw new Error(message);
  process.stderr.write(`${message}\n`);
  return describe.skip;
}
