/** Frames survive the wire, and nothing that is not a frame is taken for one; subjects hold no caller's text. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Frame, frameLevel, readFrame, writeFrame } from './frame.ts';
import { mintStreamId, streamKey } from './stream-id.ts';
import { answerKey, answerSubject, isInbox, mintInbox, subjectOf } from './subjects.ts';
import { cutUnit, totalsMatch, UnitReader, writeTotals } from './units.ts';

const u8 = fc.integer({ min: 0, max: 255 });
const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe('frames', () => {
  test('what is written is read', () => {
    const header = fc.record({ kind: u8, flags: u8, marks: u8, attempt: fc.integer({ min: 0, max: 65_535 }), number: u32, salt: u32, seq: u32 });
    fc.assert(
      fc.property(header, fc.boolean(), fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 3 }), (fields, introduce, parts) => {
        const inbox = introduce ? mintInbox('edge') : '';
        const frame = readFrame(new Uint8Array(writeFrame(fields, Buffer.from(inbox), parts)))!;
        const { payload, ...rest } = frame;
        expect(rest).toEqual({ ...fields, inbox, level: frameLevel });
        expect(Buffer.compare(payload, Buffer.concat(parts))).toBe(0);
      }),
    );
  });

  test('any bytes are read or refused, never thrown at', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => void readFrame(bytes)));
    fc.assert(fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => void readFrame(Uint8Array.of(1, ...bytes))));
    expect(readFrame(Buffer.from('{"stream":"gw_news","seq":1,"domain":""}'))).toBeNull();
  });

  test('units are cut and put together', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 90 }), { maxLength: 4 }), fc.integer({ min: 1, max: 40 }), (parts, cap) => {
        const reader = new UnitReader();
        let whole: Uint8Array | null = null;
        for (const piece of cutUnit(parts, cap)) {
          expect(whole).toBeNull();
          whole = reader.add({ marks: piece.more ? 1 : 0, payload: Buffer.concat(piece.parts) } as unknown as Frame);
        }
        expect(Buffer.compare(whole!, Buffer.concat(parts))).toBe(0);
      }),
    );
  });

  test('totals beyond 4 GiB are told apart', () => {
    const bytes = 5 * 2 ** 32 + 7;
    expect(totalsMatch(writeTotals(3, bytes), 3, bytes)).toBe(true);
    expect(totalsMatch(writeTotals(3, bytes), 3, 7)).toBe(false);
    expect(totalsMatch(writeTotals(3, bytes), 4, bytes)).toBe(false);
    expect(totalsMatch(Buffer.alloc(3), 0, 0)).toBe(false);
  });
});

describe('subjects and ids', () => {
  test('only plain service.verb becomes a subject', () => {
    expect(subjectOf('router.plan')).toBe('gw.v1.router.plan');
    for (const bad of ['router', 'router.plan.x', 'router.*', 'router.>', 'a. b', 'a.b\r\n', '.', 'Router.plan', `a.${'b'.repeat(50)}`]) {
      expect(() => subjectOf(bad)).toThrow();
    }
  });

  test('only inboxes are published to on a word from outside', () => {
    expect(isInbox(mintInbox('edge'))).toBe(true);
    for (const bad of ['', 'gw.v1.stats.request', 'gw.v1.inbox.edge.*', 'gw.v1.inbox.>', `${mintInbox('edge')}.x`, '$JS.API.STREAM.DELETE.gw_news']) {
      expect(isInbox(bad)).toBe(false);
    }
    expect(() => mintInbox('edge.x')).toThrow();
  });

  test('stream keys are safe integers, differ, and survive an answer subject', () => {
    const keys = new Set<number>();
    for (let i = 0; i < 5000; i++) {
      const { number, salt } = mintStreamId();
      const key = streamKey(number, salt);
      expect(Number.isSafeInteger(key)).toBe(true);
      expect(answerKey(answerSubject('gw.v1.inbox.edge.token', key))).toBe(key);
      keys.add(key);
    }
    expect(keys.size).toBe(5000);
  });
});

test('an id says nothing of those that are minted after it', () => {
  const ids = Array.from({ length: 4000 }, mintStreamId);
  const steps = new Set(ids.slice(1).map(({ number }, at) => (number - ids[at]!.number) >>> 0));
  expect(steps.size).toBeGreaterThan(3900);
  // Every bit is 0 in some and 1 in others.
  const bits = (part: 'number' | 'salt') => [ids.reduce((all, id) => all | id[part], 0) >>> 0, ids.reduce((all, id) => all & id[part], -1) >>> 0];
  expect([bits('number'), bits('salt')]).toEqual([
    [2 ** 32 - 1, 0],
    [2 ** 21 - 1, 0],
  ]);
});
