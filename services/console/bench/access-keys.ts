/**
 * How fast the console's API answers over many access keys, HTTP and all: `node services/console/bench/access-keys.ts sqlite|postgresql [keys]`.
 * Each question is asked forty times, one after another.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStorage } from '@model-gateway/storage';
import { sampleGroup, sampleKey } from '../../../packages/storage/test/samples.ts';
import { openTestPostgres } from '../../../tests/support/postgres.ts';
import { api, type Harness, startConsole } from '../test/harness.ts';

const mode = process.argv[2] === 'postgresql' ? 'postgresql' : 'sqlite';
const keys = Number(process.argv[3] ?? 20_000);
const rounds = 40;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const quiet = { info: () => undefined, warn: () => undefined };

async function measure({ call }: Harness, name: string, ask: readonly [method: string, path: string, body?: () => unknown]): Promise<void> {
  const [method, path, body] = ask;
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const { status, text } = await call(method, `${api}/${path}`, body?.());
    times.push(performance.now() - began);
    if (status >= 300) throw new Error(`${name}: ${status} ${text}`);
  }
  times.sort((one, other) => one - other);
  const at = (share: number): string => times[Math.ceil(rounds * share) - 1]!.toFixed(1).padStart(7);
  say(`| ${name} | ${at(0.5)} | ${at(0.95)} |`);
}

const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
const server = mode === 'postgresql' ? await openTestPostgres() : undefined;
const target = server ? ({ mode: 'postgresql', url: await server.createDatabase() } as const) : ({ mode: 'sqlite', file: join(folder, 'keys.db') } as const);
const storage = openStorage(target, { logger: quiet });
await storage.migrate();
await storage.catalog.change(async (writer) => {
  for (let group = 0; group < 20; group++) await writer.keyGroups.insert(`g${group}`, sampleGroup({ name: `group-${group}` }));
  for (let index = 0; index < keys; index++) {
    const tags = index % 100 === 0 ? ['vip', `team-${index % 7}`] : [`team-${index % 7}`];
    await writer.accessKeys.insert(
      `k${index}`,
      sampleKey({
        name: `key-${index}`,
        group: `group-${index % 20}`,
        hash: index.toString(16).padStart(64, '0'),
        tags,
        ...(index % 2 === 0 && { budget: { limit: 5, period: 'month', currency: 'USD' } }),
      }),
    );
  }
});
const harness = await startConsole(storage);
let change = 0;
say(`${keys} keys, ${mode}; ms\n\n| | median | p95 |\n|---|---|---|`);
for (const [name, ...ask] of [
  ['first page', 'GET', 'access-keys'],
  ['last page', 'GET', `access-keys?page=${Math.ceil(keys / 50)}`],
  ['page of 200', 'GET', 'access-keys?page_size=200'],
  ['sorted by group, a page in the middle', 'GET', `access-keys?sort=-group&page=${Math.ceil(keys / 100)}`],
  ['search that finds eleven', 'GET', 'access-keys?q=KEY-1999'],
  ['search that finds none', 'GET', 'access-keys?q=nothing'],
  ['one group', 'GET', 'access-keys?group=group-7'],
  ['one tag of seven', 'GET', 'access-keys?tags=team-3'],
  ['two tags', 'GET', 'access-keys?tags=vip,team-3'],
  ['one key', 'GET', 'access-keys/key-777'],
  ['a change of one key', 'PATCH', 'access-keys/key-777', () => ({ description: `change ${change++}` })],
  ['budgets, of which there are ten thousand', 'GET', 'budgets'],
  ['history', 'GET', 'history'],
] as const) {
  await measure(harness, name, ask as unknown as Parameters<typeof measure>[2]);
}
await harness.close();
await storage.close();
await server?.stop();
rmSync(folder, { recursive: true, force: true });
process.exit(0);
