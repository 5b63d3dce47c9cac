import { describe, expect, test } from '@jest/globals';
import { EventLoopBatcher } from './event-loop-batcher.ts';

describe('a cohort', () => {
  test('runs what was added in a turn together, in order, once', () => {
    const turns: (() => void)[] = [];
    const seen: number[] = [];
    const batcher = new EventLoopBatcher((run) => turns.push(run));
    for (const number of [1, 2, 3]) batcher.add(() => seen.push(number));
    expect([seen, turns.length]).toEqual([[], 1]);
    turns.shift()!();
    expect([seen, turns.length]).toEqual([[1, 2, 3], 0]);
  });

  test('what is added while it runs belongs to the next turn', () => {
    const turns: (() => void)[] = [];
    const seen: string[] = [];
    const batcher = new EventLoopBatcher((run) => turns.push(run));
    batcher.add(() => {
      seen.push('first');
      batcher.add(() => seen.push('later'));
    });
    batcher.add(() => seen.push('second'));
    turns.shift()!();
    expect([seen, turns.length]).toEqual([['first', 'second'], 1]);
    turns.shift()!();
    expect(seen).toEqual(['first', 'second', 'later']);
  });

  test('what they await settles in step', async () => {
    const seen: string[] = [];
    const batcher = new EventLoopBatcher(setImmediate);
    const work = async (name: string): Promise<void> => {
      seen.push(`${name} one`);
      await null;
      seen.push(`${name} two`);
    };
    const done = ['a', 'b'].map((name) => new Promise<void>((resolve) => batcher.add(() => resolve(work(name)))));
    await Promise.all(done);
    expect(seen).toEqual(['a one', 'b one', 'a two', 'b two']);
  });

  describe('that gathers', () => {
    /** One that runs turn by turn, with who went together. */
    const gathering = () => {
      const turns: (() => void)[] = [];
      const batcher = new EventLoopBatcher((run) => turns.push(run), { gathers: true });
      let together: string[] = [];
      return {
        add: (name: string) => batcher.add(() => together.push(name)),
        /** Ends a turn; says who went in it. */
        turn: () => {
          together = [];
          turns.shift()?.();
          return together;
        },
      };
    };

    test('does not delay a lone request', () => {
      const { add, turn } = gathering();
      for (const name of ['a', 'b']) {
        add(name);
        expect(turn()).toEqual([name]);
      }
    });

    test('waits for those of the next turns when it has company, and leaves after turns without a newcomer', () => {
      const { add, turn } = gathering();
      add('a');
      add('b');
      expect(turn()).toEqual([]);
      add('c');
      expect([turn(), turn(), turn()]).toEqual([[], [], []]);
      expect(turn()).toEqual(['a', 'b', 'c']);
    });

    test('waits for the company that it had the last time, once', () => {
      const { add, turn } = gathering();
      add('a');
      add('b');
      while (turn().length === 0);
      add('c');
      expect([turn(), turn(), turn()]).toEqual([[], [], []]);
      expect(turn()).toEqual(['c']);
      add('d');
      expect(turn()).toEqual(['d']);
    });

    test('leaves though every turn brings one more', () => {
      const { add, turn } = gathering();
      add('first');
      let turns = 0;
      for (; turns < 100; turns += 1) {
        add('another');
        if (turn().length > 0) break;
      }
      expect(turns).toBeLessThan(10);
    });
  });
});
