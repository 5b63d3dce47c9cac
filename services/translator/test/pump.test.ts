/** The pump: lifecycle held back until content, within caps; one frame per read; and every way a stream can end. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ChatEvent } from '@model-gateway/protocols';
import { Meter } from '../src/meter.ts';
import { Pump } from '../src/pump.ts';

const text: ChatEvent = { type: 'text-delta', index: 0, text: 'hello' };
const block: ChatEvent = { type: 'block-start', index: 0, block: { type: 'text' } };
const start: ChatEvent = { type: 'start' };
const finish: ChatEvent = { type: 'finish', reason: 'stop' };
const end: ChatEvent = { type: 'end' };
const failure: ChatEvent = { type: 'error', error: { class: 'overloaded', message: 'busy' } };

let sent: string[];
let commits: number;
let writable: boolean;
let atEnd: ChatEvent[];

/** A protocol whose records are lists of canonical events, and whose caller sees the raw bytes. */
function createPump(maxEventBytes = 1024 * 1024): Pump {
  const record = { meter: new Meter(), markContent: () => {} };
  const adapter = { framing: 'sse', createReader: () => ({ read: ({ json }: { json?: ChatEvent[] }) => json ?? [], finish: () => atEnd }) };
  const transform = {
    record: ({ raw }: { raw: Uint8Array }) => Buffer.from(raw),
    finish: () => '<owed>',
  };
  const sink = {
    commit: () => void commits++,
    send: (bytes: Uint8Array) => {
      sent.push(Buffer.from(bytes).toString('utf8'));
      return writable;
    },
  };
  return new Pump(...([record, { target: { adapter, route: {} } }, { transform, sink }, maxEventBytes] as unknown as ConstructorParameters<typeof Pump>));
}
const record = (...events: ChatEvent[]): string => `data: ${JSON.stringify(events)}\n\n`;
const push = (pump: Pump, ...records: string[]): boolean => pump.push(Buffer.from(records.join('')));

beforeEach(() => {
  sent = [];
  commits = 0;
  writable = true;
  atEnd = [];
});

describe('hold-back', () => {
  test('nothing is sent before content, then everything in one frame', () => {
    const pump = createPump();
    push(pump, record(start));
    push(pump, record({ type: 'usage', usage: { input: 1, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 } }));
    expect([sent.length, commits]).toEqual([0, 0]);
    push(pump, record(block), record(text));
    expect(commits).toBe(1);
    expect(sent).toEqual([expect.stringContaining('"start"')]);
    expect(sent[0]).toContain('hello');
  });

  test('a reply that says nothing commits when it finishes', () => {
    const pump = createPump();
    push(pump, record(start), record(finish), record(end));
    expect(commits).toBe(1);
    expect(pump.finish()).toEqual({ fault: null, committed: true });
  });

  test('more lifecycle than 64 events is let through', () => {
    const pump = createPump();
    for (let count = 0; count < 64; count++) push(pump, record(start));
    expect(commits).toBe(0);
    push(pump, record(start));
    expect([commits, sent.length]).toEqual([1, 1]);
    expect(sent[0]!.match(/data:/g)).toHaveLength(65);
  });

  test('more lifecycle than 256 KiB is let through', () => {
    const pump = createPump();
    const large = record({ type: 'start', id: 'x'.repeat(100 * 1024) });
    push(pump, large);
    push(pump, large);
    expect(commits).toBe(0);
    push(pump, large);
    expect([commits, sent.length]).toEqual([1, 1]);
  });

  test('an error before content leaves nothing committed and nothing sent', () => {
    const pump = createPump();
    push(pump, record(start), record(failure), record(text));
    expect(pump.done).toBe(true);
    expect(pump.finish()).toEqual({ fault: { class: 'overloaded', message: 'busy' }, committed: false });
    expect([commits, sent.length]).toEqual([0, 0]);
  });
});

describe('endings', () => {
  test('complete: the terminator, and what the end still owes', () => {
    const pump = createPump();
    push(pump, record(block), record(text), record(finish, end), 'data: never read\n\n');
    expect(pump.done).toBe(true);
    expect(pump.finish()).toEqual({ fault: null, committed: true });
    expect(sent.at(-1)).toBe('<owed>');
    expect(sent.join('')).not.toContain('never read');
  });

  test('an end that only the end of the body brings', () => {
    const pump = createPump();
    atEnd = [finish, end];
    push(pump, record(block), record(text));
    expect(pump.finish()).toEqual({ fault: null, committed: true });
  });

  test('a body that ends without its terminator is a break, never a success', () => {
    const pump = createPump();
    push(pump, record(block), record(text));
    expect(pump.finish()).toMatchObject({ fault: { class: 'broken', code: 'incomplete' }, committed: true });
    expect(sent).not.toContain('<owed>');
  });

  test('an error after content: what came before it is sent, nothing after', () => {
    const pump = createPump();
    push(pump, record(block, text), record(failure), record(text));
    expect(sent.join('').match(/hello/g)).toHaveLength(1);
    expect(pump.finish()).toMatchObject({ fault: { class: 'overloaded' }, committed: true });
  });

  test.each([['data: {"half\n\n'], ['data: <html>\n\n']])('%j is no event', (line) => {
    const pump = createPump();
    push(pump, record(block, text), line, record(text));
    expect(pump.finish()).toMatchObject({ fault: { class: 'broken', code: 'malformed' } });
    expect(sent.join('').match(/hello/g)).toHaveLength(1);
  });

  test('comments, blank data and [DONE] are no fault', () => {
    const pump = createPump();
    push(pump, ': ping\n\n', 'data: \n\n', record(block, text), 'data: [DONE]\n\n', record(end));
    expect(pump.finish().fault).toBeNull();
  });

  test('an event above the cap is unreadable, and does not take memory', () => {
    const pump = createPump(1024);
    push(pump, record(block, text));
    push(pump, `data: "${'x'.repeat(4096)}`);
    expect(pump.done).toBe(true);
    expect(pump.finish()).toMatchObject({ fault: { class: 'broken', code: 'unreadable' }, committed: true });
  });
});

test('a full sink pauses the upstream; one frame per read however many events', () => {
  const pump = createPump();
  writable = false;
  expect(push(pump, record(block), record(text), record(text), record(text))).toBe(false);
  expect(sent).toHaveLength(1);
  writable = true;
  expect(push(pump, record(text))).toBe(true);
});

test('events cut anywhere between reads arrive whole', () => {
  const bytes = Buffer.from(record(block) + record({ ...text, text: 'grüße 🎉' } as ChatEvent) + record(finish, end));
  for (let cut = 0; cut <= bytes.length; cut++) {
    sent = [];
    const pump = createPump();
    pump.push(bytes.subarray(0, cut));
    pump.push(bytes.subarray(cut));
    expect(pump.finish()).toEqual({ fault: null, committed: true });
    expect(sent.join('')).toBe(`${bytes.toString('utf8')}<owed>`);
  }
});
