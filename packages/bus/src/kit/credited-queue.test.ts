/** The queue's law: whatever the sizes and grants, bytes come out whole and in order, and never more than credit allows. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CreditedQueue } from './credited-queue.ts';

describe('credited queue', () => {
  test('keeps order and bytes, and goes into debt by at most one part', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.nat(500).map((push) => ({ push })),
            fc.nat(400).map((grant) => ({ grant })),
          ),
          { maxLength: 60 },
        ),
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 200 }),
        (steps, window, cap) => {
          const out: number[] = [];
          let granted = window;
          let next = 0;
          let ends = 0;
          const queue = new CreditedQueue({
            window,
            cap,
            endFlag: 1,
            emit: (bytes, flags) => {
              expect(out.length).toBeLessThan(granted);
              expect(bytes.length).toBeLessThanOrEqual(cap);
              out.push(...bytes);
              if (flags & 1) ends++;
            },
          });
          let pushes = 0;
          for (const step of steps) {
            if ('push' in step) {
              pushes++;
              queue.push(
                Uint8Array.from({ length: step.push }, () => next++ & 255),
                1,
                0,
              );
            } else {
              granted += step.grant;
              queue.grant(step.grant);
            }
          }
          granted += 1e6;
          queue.grant(1e6);
          expect(out).toEqual(Array.from({ length: next }, (_, i) => i & 255));
          expect(ends).toBe(pushes);
          let finished = false;
          queue.end(() => {
            finished = true;
          });
          expect(finished).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('a held queue emits nothing, answers by its window, and wakes its sender once after the release', () => {
    let emitted = 0;
    const queue = new CreditedQueue({ window: 100, cap: 1000, endFlag: 1, held: true, emit: (bytes) => (emitted += bytes.length) });
    let woken = 0;
    queue.onReady(() => woken++);
    expect(queue.push(new Uint8Array(60), 0, 0)).toBe(true);
    expect(queue.push(new Uint8Array(60), 0, 0)).toBe(false);
    expect(emitted).toBe(0);
    queue.release();
    expect(emitted).toBe(120);
    expect(woken).toBe(0);
    queue.grant(60);
    queue.grant(60);
    expect(woken).toBe(1);
  });

  test('a receiver that grants and pushes from inside emit cannot disturb the order', () => {
    const out: number[] = [];
    const queue: CreditedQueue = new CreditedQueue({
      window: 1,
      cap: 1000,
      endFlag: 1,
      emit: (bytes) => {
        out.push(bytes[0]!);
        if (bytes[0]! < 5) queue.push(Uint8Array.of(bytes[0]! + 5), 0, 0);
        queue.grant(1);
      },
    });
    for (let i = 0; i < 5; i++) queue.push(Uint8Array.of(i), 0, 0);
    expect(out).toEqual([0, 5, 1, 6, 2, 7, 3, 8, 4, 9]);
  });

  test('fence drops what waits of earlier attempts and says how much', () => {
    const out: number[] = [];
    const queue = new CreditedQueue({ window: 1, cap: 1000, endFlag: 1, emit: (_bytes, _flags, attempt) => out.push(attempt) });
    for (const attempt of [0, 0, 1, 2]) queue.push(new Uint8Array(1), 0, attempt);
    expect(queue.dropBefore(2)).toBe(2);
    queue.grant(10);
    expect(out).toEqual([0, 2]);
  });
});
