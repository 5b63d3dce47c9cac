/** The pool: turns, bounds, and slots that die. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { processorMs } from '../src/pool/process-facts.ts';
import { WaitingLine } from '../src/pool/waiting-line.ts';
import { script, startPool, type TestPool } from './support.ts';

const pools: TestPool[] = [];
/** Time is enough for every run that is not about it, on a busy machine too. */
const start = (options: Parameters<typeof startPool>[0] = {}): TestPool => {
  const pool = startPool({ timeoutMs: 20_000, ...options });
  pools.push(pool);
  return pool;
};
afterEach(() => {
  for (const { pool } of pools.splice(0)) pool.close();
});

const free = { maxOperations: Number.MAX_SAFE_INTEGER };
const spin = script('for (;;) {}');
const quick = script('body.done = true; return body');

describe('slots', () => {
  test('one that is killed is replaced at once, and its run is answered', async () => {
    const { pool, run } = start({ ...free, slots: 2 });
    await Promise.all([run(quick), run(quick)]);
    const used = await standStill(pool, 3);
    const lost = run(spin);
    await waitFor(() => usedBy(pool) > used + 100);
    for (const pid of pool.pids) process.kill(pid, 'SIGKILL');
    expect((await lost).fault?.code).toBe('TooMuchMemory');
    const began = performance.now();
    expect((await run(quick)).body).toMatchObject({ done: true });
    // Not only once the place of the dead is given up.
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  test('a run whose process died before it began is answered by another, however late that is seen', async () => {
    const { pool, run } = start({ ...free, slots: 2 });
    await Promise.all([run(quick), run(quick)]);
    await standStill(pool, 3);
    const dead = pool.pids;
    for (const pid of dead) process.kill(pid, 'SIGSTOP');
    const answer = run(quick);
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (const pid of dead) process.kill(pid, 'SIGKILL');
    expect(await answer).toMatchObject({ fault: null, body: { done: true } });
  });

  test('the spare replaces one that dies', async () => {
    const { pool, run } = start({ ...free, slots: 1 });
    await run(quick);
    await standStill(pool, 2);
    const before = new Map(pool.pids.map((pid) => [pid, processorMs(pid) ?? 0]));
    const busy = () => pool.pids.find((pid) => (processorMs(pid) ?? 0) > (before.get(pid) ?? 0) + 100);
    const lost = run(spin);
    await waitFor(() => busy() !== undefined);
    process.kill(busy()!, 'SIGKILL');
    for (const pid of before.keys()) process.kill(pid, 0);
    const next = run(quick);
    await Promise.race([lost, next]);
    expect((await next).fault).toBeNull();
  });

  test('nothing of one run is there for the next, and none of its environment', async () => {
    const { run } = start({ slots: 1 });
    expect((await run('let runs = 0;\nfunction transform(body) { runs++; body.runs = runs; return body }')).body).toMatchObject({ runs: 1 });
    expect((await run('let runs = 0;\nfunction transform(body) { runs++; body.runs = runs; return body }')).body).toMatchObject({ runs: 1 });
  });

  test('faults name the line of the admin’s own script', async () => {
    const { run } = start({ slots: 1 });
    const faults = await Promise.all([
      run('// a comment\nconst f = (x) => x.y.z;\n\nfunction transform(body) {\n  return f(body);\n}'),
      run('const a = [\n1,\n2,\n].map((n) => n + missing);\nfunction transform(body) { return body }'),
      run('function transform(body) {\n  for (;;) {\n    body.n = 1;\n  }\n}'),
    ]);
    expect(faults.map(({ fault }) => [fault?.code, fault?.line])).toEqual([
      ['TypeError', 2],
      ['ReferenceError', 4],
      ['TooManyOperations', 2],
    ]);
  });
});

describe('time', () => {
  test('is the processor’s: who was kept from it does not fail', async () => {
    const timeoutMs = 3000;
    const { pool, run } = start({ slots: 1, timeoutMs });
    await run(quick);
    await waitFor(() => pool.pids.length === 2);
    for (const pid of pool.pids) process.kill(pid, 'SIGSTOP');
    const answer = run(quick);
    await new Promise((resolve) => setTimeout(resolve, timeoutMs + 300));
    for (const pid of pool.pids) process.kill(pid, 'SIGCONT');
    expect((await answer).body).toMatchObject({ done: true });
  });

  test('ends who takes all of it, and who waits for ever', async () => {
    const { pool, run } = start({ maxOperations: Number.MAX_SAFE_INTEGER, slots: 1, timeoutMs: 300 });
    await run(quick);
    expect((await run(spin)).fault?.code).toBe('TooMuchTime');
    // On a busy machine so short a time may be too short for this one too; once it ends well, its slot stands ready.
    let ready = await run(quick);
    while (ready.fault) ready = await run(quick);
    for (const pid of pool.pids) process.kill(pid, 'SIGSTOP');
    expect((await run(quick)).fault?.code).toBe('TooMuchTime');
  });

  test('may be shorter than a slot takes to make itself ready', async () => {
    const { run } = start({ slots: 1, timeoutMs: 10 });
    // On a busy machine the clock may be first; a slot that did not become ready would tell neither.
    expect(['TooManyOperations', 'TooMuchTime']).toContain((await run(script('for (;;) {}'))).fault?.code);
  });
});

describe('the line', () => {
  test('owners take turns, however many runs one of them has', async () => {
    const { run } = start({ ...free, slots: 1 });
    await run(quick);
    const order: string[] = [];
    const busy = script('for (let i = 0; i < 300000; i++); return body');
    const runs = [...Array.from({ length: 6 }, () => 'flood'), 'calm'].map(async (owner) => {
      await run(busy, {}, { owner });
      order.push(owner);
    });
    await Promise.all(runs);
    expect(order.indexOf('calm')).toBeLessThanOrEqual(2);
  });

  test('a run waits only so long', async () => {
    const { run } = start({ ...free, slots: 1, waitMs: 200, timeoutMs: 1000 });
    await run(quick).catch(() => undefined);
    const runs = await Promise.all([run(spin), run(quick)]);
    expect(runs[1].fault?.code).toBe('ScriptRunnerBusy');
  });

  test('has an end, in number and in bytes, and lets the last of an owner leave', () => {
    const line = new WaitingLine<{ owner: string; bytes: number }>(3, 100);
    const items = [10, 10, 90, 10].map((bytes, at) => ({ owner: at % 2 ? 'b' : 'a', bytes }));
    expect(items.map((item) => line.enter(item))).toEqual([true, true, false, true]);
    expect(line.enter({ owner: 'c', bytes: 1 })).toBe(false);
    expect([line.leave(items[0]!), line.leave(items[0]!), line.length]).toEqual([true, false, 2]);
    expect([line.next(), line.next(), line.next()]).toEqual([items[1], items[3], undefined]);
  });
});

describe('the body', () => {
  test('texts beyond ASCII, and bytes that are no UTF-8, keep their places', async () => {
    const { run } = start({ slots: 1 });
    const answer = await run(script('body.b.c += "é"; body.z = "漢"; delete body.a; return body'), '{"a":"ü","b":{"c":"😀"},"d":"ß"}');
    expect(answer.text).toBe('{"b":{"c":"😀é"},"d":"ß","z":"漢"}');
  });

  test('is read and printed whole where the setting says so', async () => {
    const { run } = start({ slots: 1, lazyBody: false });
    const answer = await run(script('body.same = body.a === body.a; return body'), '{"a": {"b": 1.0}}');
    expect([answer.places, answer.text]).toEqual([null, '{"a":{"b":1},"same":true}']);
    expect((await start({ slots: 1 }).run(script('body.same = body.a === body.a; return body'), '{"a": {"b": 1.0}}')).text).toBe(
      '{"a": {"b": 1.0},"same":false}',
    );
  });

  test('of 2 MB costs neither its parse nor its way back', async () => {
    const { run } = start({ slots: 1 });
    const body = JSON.stringify({ model: 'm', messages: Array.from({ length: 200 }, (_, at) => ({ role: 'user', content: `${at} `.padEnd(10_000, 'x') })) });
    const answer = await run(script('body.temperature = 1; body.messages[3].role = "system"; delete body.model; return body'), body);
    expect(answer.places).toHaveLength(9);
    expect(JSON.parse(answer.text)).toMatchObject({ temperature: 1, messages: { 3: { role: 'system' } } });
  });

  test('may have longer lists than a script may make', async () => {
    const { run } = start({ slots: 1 });
    const input = Array.from({ length: 12_000 }, (_, at) => at);
    expect((await run(script('body.n = body.input.length; body.input[3] = -1; return body'), { input })).fault).toBeNull();
  });

  test('too large for the heap fails alone', async () => {
    const { run } = start({ slots: 1, memoryLimitMb: 16 });
    expect((await run(script('return body'), JSON.stringify({ text: 'é'.repeat(6 * 1024 * 1024) }))).fault?.code).toBe('TooMuchMemory');
    expect((await run(script('return body'), JSON.stringify({ text: 'x'.repeat(9 * 1024 * 1024) }))).fault?.code).toBe('TooMuchMemory');
    expect((await run(script('body.y = body.text.length; return body'), JSON.stringify({ text: 'x'.repeat(6 * 1024 * 1024) }))).fault).toBeNull();
    expect((await run(quick)).fault).toBeNull();
  });
});

async function waitFor(check: () => boolean): Promise<void> {
  for (const end = performance.now() + 30_000; !check(); await new Promise((resolve) => setTimeout(resolve, 25)))
    if (performance.now() > end) throw new Error('waited in vain');
}

/** Processor time of all processes of the pool. */
const usedBy = ({ pids }: TestPool['pool']): number => pids.reduce((sum, pid) => sum + (processorMs(pid) ?? 0), 0);

/** Waits until the pool has so many processes and all of them are ready, which shows by their doing nothing; gives the time they have used. */
async function standStill(pool: TestPool['pool'], count: number): Promise<number> {
  await waitFor(() => pool.pids.length === count);
  for (let before = -1; ; ) {
    const used = usedBy(pool);
    if (used === before) return used;
    before = used;
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
}
