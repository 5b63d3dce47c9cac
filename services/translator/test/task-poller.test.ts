/** Which unfinished tasks are looked at, and when: an upstream that hangs keeps no other's tasks waiting. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { KeptTask, TaskFacts, TasksAnswer, TasksCall } from '@model-gateway/contracts';
import type { UpstreamAnswer } from '../src/tasks/deps.ts';
import { TaskPoller } from '../src/tasks/task-poller.ts';
import type { TurnDeps } from '../src/turns/deps.ts';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
afterEach(() => void jest.useRealTimers());

const taskOf = (upstream: string, number: number): TaskFacts =>
  ({
    id: `${upstream}-${number}`,
    owner: 'key',
    upstreamTask: 'theirs',
    at: { upstream, model: 'm', account: 'a' },
    createdAt: Date.now(),
    request: {},
  }) as TaskFacts;
const running: UpstreamAnswer = { status: 'running', usage: null, httpStatus: 200, text: '{}' };

/** What follows from one timer runs before the next. */
async function advance(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    jest.advanceTimersByTime(100);
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A store as statistics keep it, where `clockOffMs` is how far the clock of the process that puts tasks off is ahead, and an upstream `hung` that answers nobody until it is told to. */
function start(tasks: readonly TaskFacts[], { clockOffMs = 0 } = {}) {
  const dueAt = new Map(tasks.map((task) => [task.id, Date.now()]));
  const asked: string[] = [];
  const hung: ((answer: UpstreamAnswer) => void)[] = [];
  const store = (call: TasksCall): TasksAnswer => {
    if (call.kind === 'release') dueAt.set(call.id, Date.now() + clockOffMs + call.afterMs);
    if (call.kind !== 'lease') return { tasks: [] };
    const due = tasks.filter(({ id }) => dueAt.get(id)! <= Date.now()).sort((one, other) => dueAt.get(one.id)! - dueAt.get(other.id)!);
    const leased = due.slice(0, call.limit);
    for (const { id } of leased) dueAt.set(id, Date.now() + call.leaseMs);
    return { tasks: leased.map((facts): KeptTask => ({ facts, status: 'running', reply: null })) };
  };
  const deps = {
    bus: { connected: true, ask: async (_subject: string, call: TasksCall) => store(call) },
    logger: { info() {}, debug() {}, warn() {} },
    keeper: { catalog: { current: () => ({}) } },
  } as unknown as TurnDeps;
  const poller = new TaskPoller(deps, async (task) => {
    asked.push(task.id);
    return task.at.upstream === 'hung' ? new Promise<UpstreamAnswer>((resolve) => hung.push(resolve)) : running;
  });
  poller.start();
  const askedAbout = (upstream: string): number => asked.filter((id) => id.startsWith(upstream)).length;
  return { poller, asked, askedAbout, hung };
}

test('tasks behind many of an upstream that hangs are looked at within the round, and of that one no more than ten at once', async () => {
  const tasks = [...Array.from({ length: 40 }, (_, at) => taskOf('hung', at)), ...Array.from({ length: 3 }, (_, at) => taskOf('well', at))];
  const { poller, askedAbout, hung } = start(tasks);
  await advance(8_000);
  expect(askedAbout('well')).toBe(3);
  await advance(20_000);
  expect(askedAbout('well')).toBeGreaterThanOrEqual(6);
  expect(askedAbout('hung')).toBe(10);
  for (const answer of hung.splice(0)) answer(running);
  await advance(20_000);
  expect(askedAbout('hung')).toBe(20);
  const stopped = poller.stop();
  let ended = false;
  void stopped.then(() => {
    ended = true;
  });
  await advance(10_000);
  expect(ended).toBe(false);
  for (const answer of hung.splice(0)) answer(running);
  await stopped;
});

test('as many tasks as are due are looked at in one round', async () => {
  const tasks = Array.from({ length: 35 }, (_, at) => taskOf('well', at));
  const { poller, asked } = start(tasks);
  await advance(5_100);
  expect(new Set(asked).size).toBe(35);
  await poller.stop();
});

test('tasks that are due again at once, since clocks differ, are looked at once a round', async () => {
  const { poller, asked } = start(
    Array.from({ length: 20 }, (_, at) => taskOf('well', at)),
    { clockOffMs: -300_000 },
  );
  await advance(5_100);
  expect(new Set(asked).size).toBe(asked.length);
  await advance(5_100);
  expect(new Set(asked).size).toBe(20);
  await poller.stop();
});
