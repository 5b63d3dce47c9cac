/** Both ends of a stream over a link whose frames arrive at once or later: whatever the order of calls, bytes come whole and in order, and both ends close once. */
import { expect, test } from '@jest/globals';
import type { frameKind } from '@model-gateway/contracts';
import fc from 'fast-check';
import type { StreamHandlers } from '../bus.ts';
import { StreamCallee } from './callee.ts';
import { StreamCaller } from './caller.ts';
import type { CalleeLink, FrameReceiver, StreamKind, StreamPayloads } from './link.ts';

type Subject = 'console.http';

class TestLink implements CalleeLink {
  readonly id = 'one';
  readonly cap = 50_000;
  readonly carriesWhole: boolean;
  closed = 0;
  awaited = 0;
  target: FrameReceiver | null = null;
  private readonly waiting: (() => void)[] = [];
  private readonly direct: boolean;

  constructor(direct: boolean) {
    this.direct = direct;
    this.carriesWhole = direct;
  }

  encode(_kind: typeof frameKind.head | typeof frameKind.tail | typeof frameKind.error, message: unknown): unknown {
    return message;
  }

  send<K extends StreamKind>(kind: K, payload: StreamPayloads[K], flags: number): void {
    if (this.direct) this.target?.receive(kind, payload, flags);
    else this.waiting.push(() => this.target?.receive(kind, payload, flags));
  }

  /** Delivers up to `count` frames. */
  deliver(count: number): number {
    let delivered = 0;
    for (let next = this.waiting.shift(); next; next = this.waiting.shift()) {
      next();
      if (++delivered === count) break;
    }
    return delivered;
  }

  close(): void {
    this.closed++;
  }

  awaitAcknowledgement(): void {
    this.awaited++;
  }
}

function makeStream(direct: boolean) {
  const logger = { info() {}, warn() {}, error() {} };
  const toCallee = new TestLink(direct);
  const toCaller = new TestLink(direct);
  const order: string[] = [];
  const received: Uint8Array[] = [];
  const handlers: StreamHandlers<Subject> = {
    head: () => void order.push('head'),
    data: (bytes) => {
      received.push(bytes);
      caller.consumed(bytes.length);
    },
    tail: () => void order.push('tail'),
    broken: () => void order.push('broken'),
  };
  const caller = new StreamCaller<Subject>(toCallee, handlers, logger);
  const callee = new StreamCallee<Subject>(toCaller, 1000, { logger, droppedBefore() {} });
  toCallee.target = callee;
  toCaller.target = caller;
  caller.release();
  const settle = () => {
    while (toCallee.deliver(1) + toCaller.deliver(1) > 0);
  };
  return { caller, callee, toCallee, toCaller, order, received, settle };
}

// The callee listens rarely, so that often more than a window waits for it.
const step = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 1, max: 300_000 }).map((send) => ({ send })) },
  { weight: 1, arbitrary: fc.constant({ listen: true }) },
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 5 }).map((deliver) => ({ deliver })) },
);

test('an echo returns every byte in order, whenever the callee begins to listen', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(step, { maxLength: 40 }), (direct, steps) => {
      const { caller, callee, toCallee, toCaller, order, received, settle } = makeStream(direct);
      const sent: Uint8Array[] = [];
      let listening = false;
      const listen = () => {
        if (listening) return;
        listening = true;
        callee.onData((bytes) => {
          callee.data(bytes);
          callee.consumed(bytes.length);
        });
        callee.onDataEnd(() => callee.tail({}));
      };
      callee.head({});
      for (const next of steps) {
        if ('send' in next) {
          const bytes = new Uint8Array(next.send).fill(sent.length + 1);
          sent.push(bytes);
          caller.send(bytes);
        } else if ('listen' in next) listen();
        else toCallee.deliver(next.deliver) + toCaller.deliver(next.deliver);
      }
      caller.endSend();
      listen();
      settle();
      expect(Buffer.concat(received).equals(Buffer.concat(sent))).toBe(true);
      expect(order).toEqual(['head', 'tail']);
      expect([toCallee.closed, toCaller.closed]).toEqual([1, 1]);
    }),
    { numRuns: 100 },
  );
});

const act = fc.constantFrom('head', 'data', 'tail', 'whole', 'cancel', 'acknowledge', 'deliver', 'listen');

test('whatever both ends do, each closes at most once, and the callee learns of its tail once', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(act, { maxLength: 20 }), (direct, acts) => {
      const { caller, callee, toCallee, toCaller, order, settle } = makeStream(direct);
      const ends: string[] = [];
      callee.onCancel(() => ends.push('cancelled'));
      callee.onSettled((how) => ends.push(how));
      let head = false;
      for (const one of acts) {
        if ((one === 'head' || one === 'whole') && head) continue;
        head ||= one === 'head' || one === 'whole';
        if (one === 'head') callee.head({});
        else if (one === 'data') callee.data(new Uint8Array(100));
        else if (one === 'tail') callee.tail({});
        else if (one === 'whole') callee.whole({}, new Uint8Array(100), {});
        else if (one === 'cancel') caller.cancel('enough');
        else if (one === 'acknowledge') caller.acknowledge();
        else if (one === 'deliver') toCallee.deliver(1) + toCaller.deliver(1);
        else callee.onData(() => undefined);
      }
      settle();
      caller.cancel('the test ends');
      caller.acknowledge();
      settle();
      expect([toCallee.closed, toCaller.closed]).toEqual([1, 1]);
      expect(ends).toHaveLength(1);
      expect(order.filter((what) => what === 'tail' || what === 'broken').length).toBeLessThanOrEqual(1);
      if (order.includes('tail')) expect(ends).toEqual(['acknowledged']);
      expect([caller.live, callee.live]).toEqual([false, false]);
    }),
    { numRuns: 300 },
  );
});
