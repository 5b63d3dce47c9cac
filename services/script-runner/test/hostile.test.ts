/** Every hostile script ends in the right fault, in time, and nobody else notices. */
import { afterAll, describe, expect, test } from '@jest/globals';
import { type Hostile, hostile, subtle, unlimited } from './hostile-scripts.ts';
import { type Answer, script, startPool, type TestPool } from './support.ts';

/** What is promised. */
const maxMs = 3000;
/** A busy machine may be late to see the end of a process: scripts that took too long get this many more tries, alone. */
const triesAlone = 3;
const sourceOf = ({ text }: Hostile): string => (/\bfunction transform\b|\bconst transforms\b/.test(text) ? text : script(text));

const counted = startPool();
const free = startPool({ maxOperations: 100_000_000 });
afterAll(() => {
  counted.pool.close();
  free.pool.close();
});

interface Ended {
  name: string;
  ends: readonly string[];
  answer: Answer;
  /** What a harmless script answered meanwhile. */
  beside: Answer;
}

/** As many at once as leave a slot for who means no harm. */
async function runAll({ run }: TestPool, scripts: readonly Hostile[]): Promise<Ended[]> {
  const ended: Ended[] = [];
  const left = [...scripts];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const { name, ends } = next;
      const [answer, beside] = await Promise.all([
        run(sourceOf(next), undefined, { owner: 'hostile' }),
        run(script('body.seen = Object.keys(globalThis).length + [].concat(body.messages).length; return body'), undefined, { owner: 'calm' }),
      ]);
      ended.push({ name, ends, answer, beside });
    }
  };
  await Promise.all([lane(), lane()]);
  for (const one of ended) {
    const again = scripts.find(({ name }) => name === one.name)!;
    for (let tries = 0; tries < triesAlone && one.answer.execution_time_ms >= maxMs; tries++)
      one.answer = await run(sourceOf(again), undefined, { owner: 'hostile' });
  }
  return ended;
}

function judge(ended: readonly Ended[]): unknown[] {
  return ended.flatMap(({ name, ends, answer, beside }) => {
    const end = answer.fault?.code ?? 'fine';
    const right = ends.includes(end) && answer.execution_time_ms < maxMs && beside.fault === null;
    return right ? [] : [{ name, ends, end, message: answer.fault?.message, ms: answer.execution_time_ms, beside: beside.fault }];
  });
}

describe('hostile scripts', () => {
  test('there are enough of them', () => {
    const all = [...hostile, ...subtle];
    expect(all.length + unlimited.length).toBeGreaterThanOrEqual(250);
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });

  test('with the ordinary cap of operations', async () => {
    expect(judge(await runAll(counted, hostile))).toEqual([]);
  }, 300_000);

  test('by natives that count nothing', async () => {
    expect(judge(await runAll(counted, subtle))).toEqual([]);
  }, 300_000);

  test('where only time and memory hold', async () => {
    expect(judge(await runAll(free, unlimited))).toEqual([]);
  }, 300_000);

  test('leave nothing behind: a realm after them is as a new one', async () => {
    const look = script('return { keys: Reflect.ownKeys(globalThis).map(String).sort(), polluted: ({}).polluted === undefined, names: Object.keys({}) }');
    const fresh = startPool({ slots: 1 });
    const before = await fresh.run(look);
    fresh.pool.close();
    expect((await counted.run(look)).body).toEqual(before.body);
    expect(before.body).toMatchObject({ polluted: true, names: [] });
  });
});
