/** Law: however the bytes of a stream are cut, the events are the same. `FUZZ_RUNS`: random cuts over all upstreams. */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ChatEvent } from '../../src/index.ts';
import { play, readStream, upstreams } from './harness.ts';
import { replyScenarios } from './scenarios.ts';

/** Those that between them hold every kind of block; each cut re-reads the whole stream, so not all are cut everywhere. */
const everyCut = new Set(['thinking, text beyond ASCII, call', 'interleaved calls', 'refusal', 'empty']);

const randomRuns = Math.ceil(Number(process.env['FUZZ_RUNS'] ?? 2400) / upstreams.length);

describe.each(upstreams)('$id', (upstream) => {
  test.each(replyScenarios)('$name: a byte at a time', ({ events }) => {
    const whole = play(upstream, events);
    const expected: ChatEvent[] = readStream(upstream, [whole]);
    expect(expected.at(-1)?.type).toBe('end');
    expect(
      readStream(
        upstream,
        Array.from(whole, (_, at) => whole.subarray(at, at + 1)),
      ),
    ).toEqual(expected);
  });

  test.each(replyScenarios.filter(({ name }) => everyCut.has(name)))('$name: cut at every byte', ({ events }) => {
    const whole = play(upstream, events);
    const expected: ChatEvent[] = readStream(upstream, [whole]);
    expect(expected.at(-1)?.type).toBe('end');
    for (let cut = 1; cut < whole.length; cut++) {
      const same = isDeepStrictEqual(readStream(upstream, [whole.subarray(0, cut), whole.subarray(cut)]), expected);
      expect({ cut, same }).toEqual({ cut, same: true });
    }
    expect(
      readStream(
        upstream,
        Array.from(whole, (_, at) => whole.subarray(at, at + 1)),
      ),
    ).toEqual(expected);
  });

  test(`${randomRuns} random chunkings`, () => {
    const streams = replyScenarios.map(({ events }) => {
      const whole = play(upstream, events);
      return { whole, expected: readStream(upstream, [whole]) };
    });
    fc.assert(
      fc.property(fc.nat(streams.length - 1), fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }), (at, cuts) => {
        const { whole, expected } = streams[at]!;
        const points = [0, ...cuts.map((cut) => Math.floor(cut * whole.length)).sort((a, b) => a - b), whole.length];
        const chunks = points.slice(1).map((end, index) => whole.subarray(points[index], end));
        return isDeepStrictEqual(readStream(upstream, chunks), expected);
      }),
      { numRuns: randomRuns },
    );
  }, 3_600_000);
});
