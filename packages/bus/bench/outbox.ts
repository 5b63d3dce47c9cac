/**
 * What it costs to keep durable events on the disk: the outbox's files against a table of node:sqlite, in this thread and in a worker.
 *   node packages/bus/bench/outbox.ts [--rows 20000] [--batch 40] [--rounds 5]
 * Every row is written, synced and removed. CPU is that of all threads. `stall`: p99 of the event loop's delay. `disk`: p99 until a batch is on the disk.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { sampleRow } from '../../../tests/support/bus-samples.ts';
import { Segment } from '../src/journal/segment.ts';

type Row = [number: number, subject: string, id: string, event: string];
/** One way to keep rows: resolves when they are on the disk, and when they are gone. */
interface Store {
  add(rows: readonly number[]): Promise<void>;
  remove(rows: readonly number[]): Promise<void>;
}

const event = sampleRow('r');
const segmentBytes = 4 * 1024 * 1024;

function files(folder: string): Store {
  let next = 0;
  let segment = new Segment(join(folder, `${next++}.jsonl`));
  return {
    add(rows) {
      for (const row of rows) segment.add(`stats.request/${row}`, `${JSON.stringify(['stats.request', `stats.request/${row}`, event])}\n`);
      return segment.flush();
    },
    async remove(rows) {
      for (const row of rows) segment.open.delete(`stats.request/${row}`);
      if (segment.bytes < segmentBytes) return;
      await segment.close(true);
      segment = new Segment(join(folder, `${next++}.jsonl`));
    },
  };
}

function openTable(file: string) {
  const database = new DatabaseSync(file);
  database.exec('pragma journal_mode = WAL; pragma synchronous = FULL');
  database.exec('create table if not exists outbox (number integer primary key, subject text not null, id text not null, event text not null)');
  const insert = database.prepare('insert into outbox values (?, ?, ?, ?)');
  const remove = database.prepare('delete from outbox where number between ? and ?');
  const transaction = (run: () => void) => {
    database.exec('begin');
    run();
    database.exec('commit');
  };
  return {
    add: (rows: readonly Row[]) => transaction(() => rows.forEach((row) => void insert.run(...row))),
    remove: (first: number, last: number) => transaction(() => void remove.run(first, last)),
  };
}

const rowOf = (number: number): Row => [number, 'stats.request', String(number), JSON.stringify(event)];

function tableHere(folder: string): Store {
  const table = openTable(join(folder, 'outbox.db'));
  return {
    add: async (rows) => table.add(rows.map(rowOf)),
    remove: async (rows) => table.remove(rows[0]!, rows.at(-1)!),
  };
}

function tableInWorker(folder: string): Store {
  const worker = new Worker(new URL(import.meta.url), { workerData: join(folder, 'outbox.db') });
  worker.unref();
  const call = (message: unknown): Promise<void> =>
    new Promise((resolve) => {
      worker.once('message', () => resolve());
      worker.postMessage(message);
    });
  return { add: (rows) => call(rows.map(rowOf)), remove: (rows) => call({ first: rows[0], last: rows.at(-1) }) };
}

async function measure(name: string, make: (folder: string) => Store, { rows, batch }: { rows: number; batch: number }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'outbox-bench-'));
  const store = make(folder);
  const took: number[] = [];
  const run = async (from: number, to: number) => {
    for (let first = from; first < to; first += batch) {
      const numbers = Array.from({ length: batch }, (_, at) => first + at);
      const start = performance.now();
      await store.add(numbers);
      took.push(performance.now() - start);
      await store.remove(numbers);
      await new Promise(setImmediate);
    }
  };
  await run(0, rows / 4);
  took.length = 0;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const start = performance.now();
  await run(rows, 2 * rows);
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - start) / 1000;
  const disk = took.sort((one, other) => one - other)[Math.floor(took.length * 0.99)]!;
  const figures = { us_cpu: (user + system) / rows, rows_per_s: rows / seconds, disk_ms: disk, stall_ms: delay.percentile(99) / 1e6 };
  console.log(JSON.stringify({ store: name, batch, ...Object.fromEntries(Object.entries(figures).map(([key, value]) => [key, Number(value.toFixed(1))])) }));
  rmSync(folder, { recursive: true });
}

if (isMainThread) {
  const { values } = parseArgs({
    options: { rows: { type: 'string', default: '20000' }, batch: { type: 'string', default: '40' }, rounds: { type: 'string', default: '5' } },
  });
  const size = { rows: Number(values.rows), batch: Number(values.batch) };
  for (let round = 0; round < Number(values.rounds); round++) {
    await measure('files', files, size);
    await measure('table', tableHere, size);
    await measure('table in a worker', tableInWorker, size);
  }
  process.exit(0);
} else {
  const table = openTable(workerData as string);
  parentPort!.on('message', (message: Row[] | { first: number; last: number }) => {
    if (Array.isArray(message)) table.add(message);
    else table.remove(message.first, message.last);
    parentPort!.postMessage(null);
  });
}
