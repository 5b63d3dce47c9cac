/** What is kept of a stream: where its events end, however its bytes come, and which of them are still there. */
import { describe, expect, test } from '@jest/globals';
import { EventCutter } from './event-cutter.ts';
import { EventLog } from './event-log.ts';

const events = [
  'event: a\ndata: {"x":1}\n\n',
  ': comment\n\ndata: two\ndata: lines\n\n',
  '\n\nid: 7\r\ndata: crlf\r\n\r\n',
  'data\n\n',
  'retry: 3\n\nevent: ping\ndata: {}\n\n',
  'data: lone\r\r',
  'data: [DONE]\n\n',
];
const text = events.join('');

function endsOf(pieces: readonly string[]): number[] {
  const log = new EventLog();
  for (const piece of pieces) log.append(Buffer.from(piece));
  return Array.from({ length: log.count }, (_, at) => log.offsetAfter(at + 1) ?? -1);
}
const sums = events.map((_, at) => events.slice(0, at + 1).join('').length);

describe('events', () => {
  test('end with their blank line; comments and other blocks belong to the next one', () => {
    expect(endsOf([text])).toEqual(sums);
  });

  test('any cut of the bytes finds the same', () => {
    for (let size = 1; size <= text.length; size++) {
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
      expect(endsOf(pieces)).toEqual(sums);
    }
    for (let at = 0; at <= text.length; at++) expect(endsOf([text.slice(0, at), text.slice(at)])).toEqual(sums);
  });

  test.each([': hi\n\n', '\n', 'retry: 1\n\n', 'datax: 1\n\n', 'dat\n\n', ''])('%j is none', (block) => {
    const cutter = new EventCutter();
    expect(cutter.push(Buffer.from(block))).toEqual([]);
    expect(cutter.between).toBe(true);
  });

  test('the middle of one is not between events', () => {
    const cutter = new EventCutter();
    for (const [piece, between] of [
      ['da', false],
      ['ta: 1\n', false],
      ['\n', true],
      [':', false],
      ['\n', false],
      ['\n', true],
    ] as const) {
      cutter.push(Buffer.from(piece));
      expect(cutter.between).toBe(between);
    }
  });
});

describe('the log', () => {
  const read = (log: EventLog, from: number): string => {
    const parts: Buffer[] = [];
    for (let at = from; at < log.end; at += parts.at(-1)?.length ?? 0) parts.push(log.read(at));
    return Buffer.concat(parts).toString('latin1');
  };

  test('gives all bytes from any event on, over many blocks', () => {
    const log = new EventLog();
    const all = Array.from({ length: 5000 }, (_, n) => `data: ${n} ${'x'.repeat(n % 97)}\n\n`);
    for (const one of all) log.append(Buffer.from(one));
    expect(log.count).toBe(5000);
    for (const n of [0, 1, 17, 2500, 4999, 5000]) expect(read(log, log.offsetAfter(n)!)).toBe(all.slice(n).join(''));
    expect(log.event(42)).toBe(all[42]);
    expect(log.offsetAfter(5001)).toBeNull();
  });

  test('drops the oldest within its bound, and says which positions are gone', () => {
    const log = new EventLog();
    const limit = 256 * 1024;
    let written = '';
    for (let n = 0; n < 40_000; n++) {
      const one = `data: ${n} ${'y'.repeat(n % 61)}\n\n`;
      written += one;
      log.append(Buffer.from(one));
      log.trim(limit, Number.POSITIVE_INFINITY);
      expect(log.bytes).toBeLessThanOrEqual(limit);
    }
    expect(log.count).toBe(40_000);
    expect(log.offsetAfter(0)).toBeNull();
    expect(log.offsetAfter(log.dropped - 1)).toBeNull();
    const first = log.offsetAfter(log.dropped)!;
    expect(read(log, first)).toBe(written.slice(first));
    expect(written.slice(first)).toMatch(/^data: /);
    expect(log.count - log.dropped).toBeGreaterThan(1000);
  });

  test('keeps what a reader has not got yet', () => {
    const log = new EventLog();
    for (let n = 0; n < 10_000; n++) log.append(Buffer.from(`data: ${'z'.repeat(90)}\n\n`));
    log.trim(1, 100_000);
    expect(log.start).toBeLessThanOrEqual(100_000);
    expect(log.read(100_000).length).toBeGreaterThan(0);
  });

  test('an event longer than all that may be kept takes its position with it, and counting goes on', () => {
    const log = new EventLog();
    log.append(Buffer.from('data: 1\n\ndata: '));
    for (let n = 0; n < 100; n++) {
      log.append(Buffer.alloc(10_000, 'a'));
      log.trim(128 * 1024, Number.POSITIVE_INFINITY);
    }
    expect([log.count, log.offsetAfter(1)]).toEqual([1, null]);
    log.append(Buffer.from('\n\n'));
    expect([log.count, log.offsetAfter(1), log.offsetAfter(2)]).toEqual([2, null, log.end]);
    log.append(Buffer.from('data: 3\n\n'));
    expect(log.event(2)).toBe('data: 3\n\n');
  });

  test('holds little for a short stream, and nothing once it is given up', () => {
    const log = new EventLog();
    log.append(Buffer.from(text));
    expect(log.bytes).toBeLessThan(4096);
    log.clear();
    expect(log.bytes).toBeLessThan(64);
    expect(log.offsetAfter(3)).toBeNull();
  });
});
