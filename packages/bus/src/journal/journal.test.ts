import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { RequestRow } from '@model-gateway/contracts';
import { nothingFor, pastWindow } from '../../test/support.ts';
import { createMemoryBus, withJournal } from '../index.ts';

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
const row = (id: string): RequestRow => ({ id, user_agent: 'x'.repeat(500) }) as RequestRow;
const until = async (condition: () => boolean): Promise<void> => {
  for (const deadline = Date.now() + 30_000; !condition(); ) {
    if (Date.now() > deadline) throw new Error('the condition does not hold after 30 s');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const onDisk = (): string =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');

test('what nobody took is there for the next process, once; a torn last line is passed over', async () => {
  const first = withJournal(createMemoryBus(), { folder, logger });
  void first.publishDurable('stats.request', 'a', row('a'));
  void first.publishDurable('stats.request', 'b', row('b'));
  await until(() => onDisk().includes('"b"'));
  // The process is killed here, in the middle of a line.
  appendFileSync(join(folder, readdirSync(folder)[0]!), '["stats.request","stats.request/c",{"id"');
  const second = withJournal(createMemoryBus(), { folder, logger });
  const received: string[] = [];
  second.listenDurably('stats.request', async (batch) => void received.push(...batch.map(({ id, event }) => `${id}:${event.id}`)), { maxWaitMs: 1 });
  await until(() => received.length === 2);
  expect(received).toEqual(['a:a', 'b:b']);
  await until(() => readdirSync(folder).length === 0);
  await second.publishDurable('stats.request', 'd', row('d'));
  await second.drain();
  expect(readdirSync(folder)).toEqual([]);
});

test('an event that cannot be published stays in its file and holds up no other', async () => {
  mkdirSync(folder, { recursive: true });
  const line = (subject: string, id: string) => `${JSON.stringify([subject, `${subject}/${id}`, row(id)])}\n`;
  appendFileSync(join(folder, '0.jsonl'), line('later.event', 'x') + line('stats.request', 'a'));
  appendFileSync(join(folder, '1.jsonl'), line('stats.request', 'b'));
  const warnings: [Record<string, unknown>, string][] = [];
  const bus = withJournal(createMemoryBus(), { folder, logger: { ...logger, warn: (...one) => void warnings.push(one) } });
  const received: string[] = [];
  bus.listenDurably('stats.request', async (batch) => void received.push(...batch.map(({ id }) => id)), { maxWaitMs: 1 });
  await until(() => received.length === 2);
  expect(received).toEqual(['a', 'b']);
  await bus.drain();
  expect(onDisk()).toContain('later.event/x');
  // Where the folder goes with the process, that line is all that is left of it.
  expect(warnings.at(-1)).toEqual([{ items: 1, folder }, expect.stringContaining('stay in the outbox')]);
});

test.each([
  { what: 'a violation', before: 'audit.record', now: 'audit.violation', moved: { action: 'acl.violation' }, stays: { action: 'create' } },
  { what: 'a row of a tool call', before: 'stats.request', now: 'stats.tool', moved: { kind: 'mcp_call' }, stays: { kind: 'call' } },
  {
    what: 'a row of an aggregator (not one of an edge)',
    before: 'stats.request',
    now: 'stats.tool',
    moved: { kind: 'mcp_call', authority: 2 },
    stays: { kind: 'mcp_call', authority: 1 },
  },
] as const)('$what that an earlier version left among all others is published under its own subject', async ({ before, now, moved, stays }) => {
  const line = (id: string, event: object) => `${JSON.stringify([before, `${before}/${id}`, { id, ...event }])}\n`;
  appendFileSync(join(folder, '0.jsonl'), line('a', moved) + line('b', stays));
  const bus = withJournal(createMemoryBus(), { folder, logger });
  const received: string[] = [];
  for (const subject of [before, now])
    bus.listenDurably(subject, async (batch) => void received.push(...batch.map(({ id }) => `${subject} ${id}`)), { maxWaitMs: 1 });
  await until(() => received.length === 2);
  expect(received.sort()).toEqual([`${before} b`, `${now} a`].sort());
  await bus.drain();
});

test('what a full queue refuses waits on the disk, and is published when the queue has space', async () => {
  const bus = withJournal(createMemoryBus({ outbox: { items: 2, bytes: 1e9 } }), { folder, logger });
  const described = ['a', 'b', 'c', 'd'].map((id) => bus.publishDurable('stats.request', id, row(id)));
  await Promise.all(described.slice(2));
  expect(onDisk()).toContain('stats.request/d');
  const received: string[] = [];
  bus.listenDurably('stats.request', async (batch) => void received.push(...batch.map(({ id }) => id)), { maxWaitMs: 1 });
  await Promise.all(described);
  await until(() => received.length === 4);
  expect(received.sort()).toEqual(['a', 'b', 'c', 'd']);
  await bus.drain();
});

test('a full outbox says so and keeps further events in memory', async () => {
  const faults: string[] = [];
  const bus = withJournal(createMemoryBus(), {
    folder,
    maxBytes: 1_000,
    logger: { ...logger, error: (_fields: object, text: string) => void faults.push(text) },
  });
  const received: string[] = [];
  const onMessage = async (batch: readonly { id: string }[]): Promise<void> => {
    // Not committed before the outbox has looked at them.
    await until(() => faults.length > 0);
    received.push(...batch.map(({ id }) => id));
  };
  bus.listenDurably('stats.request', onMessage, { maxWaitMs: 1 });
  await Promise.all(Array.from({ length: 10 }, (_, at) => bus.publishDurable('stats.request', `r${at}`, row(`r${at}`))));
  expect(received).toHaveLength(10);
  expect(faults).toHaveLength(1);
  await bus.drain();
});

test('a disk that refuses is reported once, and has all that is not acknowledged once it recovers', async () => {
  const faults: string[] = [];
  const bus = withJournal(createMemoryBus(), { folder, logger: { ...logger, error: (_fields: object, text: string) => void faults.push(text) } });
  // Where the first file should be made.
  const place = join(folder, '0.jsonl');
  mkdirSync(place);
  for (const id of ['a', 'b', 'c']) {
    void bus.publishDurable('stats.request', id, row(id));
    await pastWindow(150);
  }
  await until(() => faults.length > 0);
  rmdirSync(place);
  void bus.publishDurable('stats.request', 'd', row('d'));
  // Nobody took them yet: a process that dies now must leave all of them.
  await until(() => ['a', 'b', 'c', 'd'].every((id) => onDisk().includes(`stats.request/${id}`)));
  expect(faults).toHaveLength(1);
  const received: string[] = [];
  bus.listenDurably('stats.request', async (batch) => void received.push(...batch.map(({ id }) => id)), { maxWaitMs: 1 });
  await until(() => received.length === 4);
  await bus.drain();
});

test('what is acknowledged while the disk refuses is not written later', async () => {
  const faults: string[] = [];
  const bus = withJournal(createMemoryBus(), { folder, logger: { ...logger, error: (_fields: object, text: string) => void faults.push(text) } });
  const place = join(folder, '0.jsonl');
  mkdirSync(place);
  const first = bus.publishDurable('stats.request', 'a', row('a'));
  await until(() => faults.length > 0);
  let takes = true;
  const onMessage = async (): Promise<void> => {
    if (!takes) throw new Error('not now');
  };
  bus.listenDurably('stats.request', onMessage, { maxWaitMs: 1 });
  await first;
  takes = false;
  rmdirSync(place);
  void bus.publishDurable('stats.request', 'b', row('b'));
  await until(() => onDisk().includes('stats.request/b'));
  expect(onDisk()).not.toContain('stats.request/a');
  takes = true;
  await bus.drain();
});

test('at its end a process says what is lost: neither delivered nor on the disk', async () => {
  const lines: [Record<string, unknown>, string][] = [];
  const note = (...one: [Record<string, unknown>, string]): void => void lines.push(one);
  const bus = withJournal(createMemoryBus(), { folder, logger: { ...logger, warn: note, error: note } });
  mkdirSync(join(folder, '0.jsonl'));
  void bus.publishDurable('stats.request', 'a', row('a'));
  await until(() => lines.length > 0);
  void bus.publishDurable('stats.request', 'b', row('b'));
  await bus.drain();
  expect(lines.at(-1)).toEqual([expect.objectContaining({ items: 2, folder }), expect.stringContaining('durable messages are lost')]);
  expect(lines.some(([, text]) => text.includes('stay in the outbox'))).toBe(false);
});

test('what is acknowledged soon is never written', async () => {
  const bus = withJournal(createMemoryBus(), { folder, logger });
  bus.listenDurably('stats.request', async () => undefined, { maxWaitMs: 1 });
  await Promise.all(Array.from({ length: 10 }, (_, at) => bus.publishDurable('stats.request', `r${at}`, row(`r${at}`))));
  await nothingFor(150);
  expect(readdirSync(folder)).toEqual([]);
  await bus.drain();
});
