/** What came in one turn of the loop is handed on at its end, and what ends a call stands in the right place among it. */
import { describe, expect, test } from '@jest/globals';
import type { Dispatcher } from 'undici';
import type { OutboundHandlers } from '../src/outbound-call.ts';
import { UpstreamCall } from '../src/upstream-call.ts';
import { timeouts } from './calls.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A call whose undici is this test. */
function begin(on: Partial<OutboundHandlers> = {}) {
  const seen: string[] = [];
  const controls: string[] = [];
  const controller = {
    rawHeaders: null,
    pause: () => controls.push('pause'),
    resume: () => controls.push('resume'),
    abort: () => controls.push('abort'),
  } as unknown as Dispatcher.DispatchController;
  let released = 0;
  const call = new UpstreamCall({
    handlers: {
      head: (status) => seen.push(`head ${status}`),
      data(chunk) {
        seen.push(chunk.toString());
        on.data?.(chunk);
      },
      end: () => seen.push('end'),
      error: (fault) => seen.push(fault.class),
    },
    timeouts,
    maxHeaderBytes: 65_536,
    now: () => performance.now(),
    isSaturated: () => false,
    released: () => released++,
    defect: () => seen.push('defect'),
  });
  call.dispatched();
  call.onRequestStart(controller);
  call.onResponseStart(controller, 200, {});
  return { call, controller, seen, controls, released: () => released, data: (text: string) => call.onResponseData(controller, Buffer.from(text)) };
}

describe('one turn', () => {
  test('pieces and the end come after it, in order, and the call is over then', async () => {
    const { call, seen, data, released } = begin();
    data('a');
    data('b');
    call.onResponseEnd();
    expect([seen, released()]).toEqual([['head 200'], 0]);
    await turn();
    expect([seen, released()]).toEqual([['head 200', 'a', 'b', 'end'], 1]);
  });

  test('calls of one turn are handed on together', async () => {
    const order: string[] = [];
    const one = begin({ data: (chunk) => order.push(`one ${chunk}`) });
    const other = begin({ data: (chunk) => order.push(`other ${chunk}`) });
    one.data('1');
    other.data('2');
    one.data('3');
    await turn();
    expect(order).toEqual(['one 1', 'one 3', 'other 2']);
  });

  test('much of one call does not wait, so that a pause in its midst still stops the socket', async () => {
    const large = begin({ data: () => large.call.pause() });
    large.data('a');
    large.data('b'.repeat(20_000));
    expect([large.seen.length, large.controls]).toEqual([3, ['pause']]);
    large.data('c');
    await turn();
    expect(large.seen.at(-1)).toBe('c');
  });

  test('what came before a connection broke is handed on before the fault', async () => {
    const { call, controller, seen, data } = begin();
    data('the last words');
    call.onResponseError(controller, Object.assign(new Error('gone'), { code: 'UND_ERR_SOCKET' }));
    expect(seen).toEqual(['head 200', 'the last words', 'reset']);
    await turn();
    expect(seen).toHaveLength(3);
  });

  test('who aborts hears the end of it at once, and nothing else any more', async () => {
    const { call, controls, seen, data, released } = begin();
    data('a');
    call.abort('enough');
    expect([seen, controls]).toEqual([['head 200', 'aborted'], ['abort']]);
    await turn();
    expect([seen, released()]).toEqual([['head 200', 'aborted'], 1]);
  });

  test('who aborts at the first piece hears no second', async () => {
    const aborting = begin({ data: () => aborting.call.abort('enough') });
    aborting.data('a');
    aborting.data('b');
    aborting.call.onResponseEnd();
    await turn();
    expect(aborting.seen).toEqual(['head 200', 'a', 'aborted']);
  });

  test('a complete reply leaves the connection alone: it may be another call’s', async () => {
    const pausing = begin({ data: () => pausing.call.pause() });
    pausing.data('a');
    pausing.call.onResponseEnd();
    await turn();
    expect([pausing.seen, pausing.controls]).toEqual([['head 200', 'a', 'end'], []]);

    const left = begin();
    left.data('a');
    left.call.onResponseEnd();
    left.call.abort('client gone');
    await turn();
    expect([left.seen, left.controls, left.released()]).toEqual([['head 200', 'aborted'], [], 1]);
  });

  test('nor does it set one going again that it held back', async () => {
    const { call, controls, seen } = begin();
    call.pause();
    call.onResponseEnd();
    call.resume();
    await turn();
    expect([seen, controls]).toEqual([['head 200', 'end'], ['pause']]);
  });

  test('a handler that throws ends its own call alone', async () => {
    const failing = begin({
      data() {
        throw new Error('a defect');
      },
    });
    const other = begin();
    failing.data('a');
    other.data('b');
    other.call.onResponseEnd();
    await turn();
    expect([failing.seen, other.seen]).toEqual([
      ['head 200', 'a', 'defect', 'aborted'],
      ['head 200', 'b', 'end'],
    ]);
  });

  test('a reply that is complete keeps every limit', async () => {
    const { call, seen, data } = begin();
    data('a');
    call.onResponseEnd();
    call.sweep(performance.now() + 10 * timeouts.total_ms);
    await turn();
    expect(seen).toEqual(['head 200', 'a', 'end']);
  });
});
