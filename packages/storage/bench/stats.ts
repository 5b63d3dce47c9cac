/**
 * How fast rows are stored, and how fast the console's questions are answered over many: `node packages/storage/bench/stats.ts sqlite|postgresql [rows]`.
 * Rows are made by the database itself, with sums to match, over 30 days of 1,000 access keys and 24 models.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestRow } from '@model-gateway/contracts';
import { openTestPostgres } from '../../../tests/support/postgres.ts';
import { openStorage, type Storage } from '../src/index.ts';
import { sampleRow } from '../test/samples.ts';
import { fill } from './fill.ts';

const mode = process.argv[2] === 'postgresql' ? 'postgresql' : 'sqlite';
const rows = Number(process.argv[3] ?? (mode === 'sqlite' ? 1_000_000 : 10_000_000));
const dayMs = 86_400_000;
const end = Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const quiet = { info: () => undefined, warn: () => undefined };

/** The rows of one batch: nearly all of another combination, the worst case, or of 100 keys with three models each. */
const mixes = {
  distinct: { key: (at: number) => at % 1_000, model: (at: number) => (at * 7) % 24 },
  usual: { key: (at: number) => at % 100, model: (at: number) => ((at % 100) + (at % 3)) % 24 },
};

const row = (mix: keyof typeof mixes, at: number): RequestRow =>
  sampleRow({
    id: `bench-${mix}-${at}`,
    started_at: end - 1_000 - (at % 3_000),
    access_key: `key-${mixes[mix].key(at)}`,
    key_group: `group-${at % 20}`,
    model: `model-${mixes[mix].model(at)}`,
    upstream: `upstream-${at % 6}`,
    duration_ms: 50 + ((at * 37) % 9_000),
    first_content_ms: 40 + ((at * 17) % 900),
    cost_micros: at % 977,
    currency: 'USD',
    session_id: at % 3 === 0 ? `session-${at % 500}` : null,
    authority: 2,
  });

async function ingest(storage: Storage, mix: keyof typeof mixes, batch: number, count: number): Promise<void> {
  const before = process.memoryUsage().rss;
  const began = performance.now();
  for (let at = 0; at < count; at += batch) await storage.requests.insertRows(Array.from({ length: batch }, (_, index) => row(mix, at + index)));
  const seconds = (performance.now() - began) / 1_000;
  say(
    `ingestion, ${mix} rows: ${Math.round(count / seconds)} rows/s in batches of ${batch}, memory ${Math.round((process.memoryUsage().rss - before) / 1e6)} MB more`,
  );
}

async function measure(name: string, ask: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < 20; round++) {
    const began = performance.now();
    await ask();
    times.push(performance.now() - began);
  }
  times.sort((one, other) => one - other);
  say(`${name.padEnd(44)} median ${times[10]!.toFixed(1).padStart(7)} ms   p95 ${times[18]!.toFixed(1).padStart(7)} ms`);
}

async function questions({ requests }: Storage): Promise<void> {
  const hours = { from: end - dayMs, to: end + 3_600_000, grain: 'hour' } as const;
  const days = { from: end - dayMs / 2 - 30 * dayMs, to: end + dayMs / 2, grain: 'day' } as const;
  const by = (dimension: 'access_key' | 'model' | 'error', limit = 20) => ({ by: { dimension, order: 'requests' as const, limit } });
  await measure('summary, 24 hours', () => requests.readStats({ ...hours, filters: {}, overTime: false }));
  await measure('summary, 30 days', () => requests.readStats({ ...days, filters: {}, overTime: false }));
  await measure('series, 30 days', () => requests.readStats({ ...days, filters: {}, overTime: true }));
  await measure('series by model, 3 days of hours', () =>
    requests.readStats({ ...hours, from: end - 3 * dayMs, filters: {}, overTime: true, ...by('model', 8) }),
  );
  await measure('top 20 keys, 30 days', () => requests.readStats({ ...days, filters: {}, overTime: false, ...by('access_key') }));
  await measure('top 100 keys, 2 days of hours', () =>
    requests.readStats({ ...hours, from: end - 2 * dayMs, filters: {}, overTime: false, ...by('access_key', 100) }),
  );
  await measure('keys of one model, 30 days', () => requests.readStats({ ...days, filters: { model: 'model-3' }, overTime: false, ...by('access_key') }));
  await measure('models of one key, 2 days of hours', () =>
    requests.readStats({ ...hours, from: end - 2 * dayMs, filters: { access_key: 'key-7' }, overTime: false, ...by('model') }),
  );
  const last = { from: end - dayMs, to: end + 1 };
  await measure('log, newest', () => requests.listRows({ filters: last, limit: 100 }));
  await measure('log of one key', () => requests.listRows({ filters: { ...last, accessKey: 'key-7' }, limit: 100 }));
  await measure('log of one upstream and model', () => requests.listRows({ filters: { ...last, upstream: 'upstream-2', model: 'model-3' }, limit: 100 }));
  await measure('log, errors only', () => requests.listRows({ filters: { ...last, failed: true }, limit: 100 }));
  await measure('log, slower than anything was', () => requests.listRows({ filters: { ...last, minDurationMs: 1e8 }, limit: 100 }));
  await measure('one request by the id of its caller', () => requests.listRows({ filters: { ...last, requestId: 'nobody' }, limit: 1 }));
  await measure('one request by its id, all days', () => requests.findRow('f-77777'));
  await measure('sessions, 24 hours', () => requests.readSessions({ ...last, order: 'cost_micros', limit: 50 }));
}

const folder = mkdtempSync(join(tmpdir(), 'stats-bench-'));
const server = mode === 'postgresql' ? await openTestPostgres({ sharedBuffers: '128MB' }) : null;
const url = server ? await server.createDatabase() : '';
const storage = openStorage(server ? { mode: 'postgresql', url } : { mode: 'sqlite', file: join(folder, 'bench.db') }, { logger: quiet });
try {
  await storage.migrate();
  say(`${mode}, ${rows} rows`);
  const began = performance.now();
  for (let day = 0; day <= 30; day++) await storage.requests.prepareDay(end - day * dayMs);
  await fill(mode === 'sqlite' ? { mode, file: join(folder, 'bench.db') } : { mode, url }, { rows, end, days: 30 });
  say(`filled in ${Math.round((performance.now() - began) / 1_000)} s`);
  await questions(storage);
  // Batches as services/stats takes them from a bus that is full.
  const batch = mode === 'sqlite' ? 500 : 2_000;
  for (const mix of ['usual', 'distinct'] as const) await ingest(storage, mix, batch, 50_000);
} finally {
  await storage.close();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}
