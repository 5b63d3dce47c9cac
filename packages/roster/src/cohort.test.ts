import { describe, expect, test } from '@jest/globals';
import { Cohort } from './cohort.ts';

describe('a cohort', () => {
  test('runs what was added in a turn together, in order, once', () => {
    const turns: (() => void)[] = [];
    const seen: number[] = [];
    const cohort = new Cohort((run) => turns.push(run));
    for (const number of [1, 2, 3]) cohort.add(() => seen.push(number));
    expect([seen, turns.length]).toEqual([[], 1]);
    turns.shift()!();
    expect([seen, turns.length]).toEqual([[1, 2, 3], 0]);
  });

  test('what is added while it runs belongs to the next turn', () => {
    const turns: (() => void)[] = [];
    const seen: string[] = [];
    const cohort = new Cohort((run) => turns.push(run));
    cohort.add(() => {
      seen.push('first');
      cohort.add(() => seen.push('later'));
    });
    cohort.add(() => seen.push('second'));
    turns.shift()!();
    expect([seen, turns.length]).toEqual([['first', 'second'], 1]);
    turns.shift()!();
    expect(seen).toEqual(['first', 'second', 'later']);
  });

  test('what they await settles in step', async () => {
    const seen: string[] = [];
    const cohort = new Cohort(setImmediate);
    const work = async (name: string): Promise<void> => {
      seen.push(`${name} one`);
      await null;
      seen.push(`${name} two`);
    };
    const done = ['a', 'b'].map((name) => new Promise<void>((resolve) => cohort.add(() => resolve(work(name)))));
    await Promise.all(done);
    expect(seen).toEqual(['a one', 'b one', 'a two', 'b two']);
  });
});
