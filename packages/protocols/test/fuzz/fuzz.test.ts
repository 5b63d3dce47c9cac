/**
 * Law: whatever optional fields hold (null, [], "", a wrong type, something unheard of), nothing crashes or hangs, a caller's fault is a 400 that names
 * its field, and no client sees events in an illegal order. `FUZZ_RUNS`: exchanges over all pairs; `FUZZ_SEED`: where they begin.
 */
import { describe, expect, test } from '@jest/globals';
import { speakers, upstreams } from '../laws/harness.ts';
import { answerBody, answerStream, plainAsked, sendRequest } from './exchange.ts';
import { createRandom, mutate, mutateRecords, pick } from './mutate.ts';
import { replySeeds } from './replies.ts';
import { requestSeeds } from './requests.ts';

const runs = Number(process.env['FUZZ_RUNS'] ?? 6000);
const firstSeed = Number(process.env['FUZZ_SEED'] ?? 1);
/** An exchange takes about a millisecond; one that takes this long hangs, for a body of a few kilobytes. */
const maxMs = 20_000;

const seeds = upstreams.map((upstream) => ({ upstream, replies: replySeeds(upstream) }));
const pairs = speakers.flatMap((client) => seeds.map(({ upstream, replies }) => ({ name: `${client.id} ← ${upstream.id}`, client, upstream, replies })));
const runsOfPair = Math.max(1, Math.round(runs / pairs.length));

describe.each(pairs)('$name', ({ client, upstream, replies }) => {
  const pair = { client, upstream };
  const bodies = requestSeeds(client.id);

  /** Half of the requests have one field changed, so that most are not refused before the upstream's side is reached. */
  const exchange = (seed: number): string[] => {
    const random = createRandom(seed);
    const { asked, faults } = sendRequest(pair, mutate(random() < 0.3 ? bodies[0]! : pick(bodies, random), random, random() < 0.5 ? 1 : 4));
    const answered = asked ?? plainAsked(pair);
    const records = mutateRecords(pick(pick(replies.streams, random), random), random, 4);
    faults.push(...answerStream(pair, answered, records).map((fault) => `streamed: ${fault}`));
    if (replies.wholes.length > 0) {
      const body = mutate(pick(pick(replies.wholes, random), random), random, 4);
      faults.push(...answerBody(pair, answered, body).map((fault) => `whole: ${fault}`));
    }
    if (Object.hasOwn(Object.prototype, 'polluted')) faults.push('the prototype of all objects was changed');
    return faults;
  };

  test(`${runsOfPair} changed exchanges`, () => {
    for (let run = 0; run < runsOfPair; run++) {
      const seed = firstSeed + run;
      const began = performance.now();
      let faults: string[];
      try {
        faults = exchange(seed);
      } catch (error) {
        faults = [`thrown: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
      }
      if (performance.now() - began > maxMs) faults.push(`took longer than ${maxMs} ms`);
      expect({ seed, faults }).toEqual({ seed, faults: [] });
    }
  }, 3_600_000);
});
