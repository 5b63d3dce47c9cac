/** A23, A30: console, statistics, database and bus are killed at odd moments under a stream of changes and of requests. Every acknowledged change is in the audit log, none twice; callers notice nothing of it; every request is counted once. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { Callers, clientNames, onEach, scriptedModels, sleep, until } from '../support/callers.ts';
import { arrangements, startGateway, type TestGateway } from '../support/gateway.ts';

/** `LEDGER_CHANGES=1000` makes it long. */
const wanted = Number(process.env['LEDGER_CHANGES'] ?? 200);
const writers = 4;

/** The same moments in every run. */
function createDice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Makes changes one after another until it is stopped, through refusals and broken connections, and remembers which of them were acknowledged. */
class Changes {
  readonly acknowledged = new Set<string>();
  readonly #gateway: TestGateway;
  #running = true;
  readonly #over: Promise<unknown>;

  constructor(gateway: TestGateway) {
    this.#gateway = gateway;
    this.#over = Promise.all(Array.from({ length: writers }, () => this.#write()));
  }

  async reach(count: number): Promise<void> {
    await until(() => this.acknowledged.size >= count, `${count} acknowledged changes`, 120_000);
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#over;
  }

  async #write(): Promise<void> {
    const own = `w-${randomUUID()}`;
    let made = false;
    while (this.#running) {
      const id = randomUUID();
      const change = made
        ? this.#gateway.console('PATCH', `/key-groups/${own}`, { description: id }, { 'z-request-id': id })
        : this.#gateway.console('POST', '/key-groups', { name: own, description: id }, { 'z-request-id': id });
      const status = await change.then((reply) => reply.status).catch(() => 0);
      if (status === 200 || status === 201) this.acknowledged.add(id);
      // A creation that broke off may have happened all the same.
      if (status === 201 || status === 409) made = true;
      if (status === 0 || status === 503) await sleep(20);
    }
  }
}

/** request id → how many records of the audit log are of it. */
async function readRecords(gateway: TestGateway): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await gateway.console('GET', `/audit-logs?limit=500&entity_type=key_group${more}`);
    if (status !== 200) throw new Error(`the audit log cannot be read: ${status}`);
    for (const { request_id } of body.items) if (request_id !== null) counts.set(request_id, (counts.get(request_id) ?? 0) + 1);
    cursor = body.next_cursor;
  }
  return counts;
}

async function checkLedger(gateway: TestGateway, { acknowledged }: Changes): Promise<void> {
  let missing: string[] = [];
  await until(
    async () => {
      const records = await readRecords(gateway).catch(() => new Map<string, number>());
      missing = [...acknowledged].filter((id) => !records.has(id));
      return missing.length === 0;
    },
    'the records of all acknowledged changes',
    60_000,
  ).catch(() => undefined);
  expect(missing).toEqual([]);
  const twice = [...(await readRecords(gateway))].filter(([, count]) => count !== 1);
  expect(twice).toEqual([]);
}

/** What is killed, in this order, and how it comes back. Whether callers may notice. */
const kills: Record<'together' | 'apart', { name: string; unharmed: boolean; run(gateway: TestGateway, away: number): Promise<void> }[]> = {
  together: [1, 2, 3, 4].map(() => ({
    name: 'gateway',
    unharmed: false,
    async run(gateway) {
      await gateway.processes['gateway']!.kill('SIGKILL');
      await gateway.processes['gateway']!.restart();
    },
  })),
  apart: [
    ...['console', 'stats', 'console', 'stats'].map((name) => ({
      name,
      unharmed: true,
      async run(gateway: TestGateway, away: number) {
        await gateway.processes[name]!.kill('SIGKILL');
        await sleep(away);
        await gateway.processes[name]!.restart();
      },
    })),
    ...[1, 2].map(() => ({
      name: 'postgres',
      unharmed: true,
      async run({ postgres }: TestGateway, away: number) {
        await postgres!.kill!();
        await sleep(away);
        await postgres!.restart!();
      },
    })),
    {
      name: 'both ends of the news',
      unharmed: true,
      async run({ processes }, away) {
        await Promise.all([processes['console']!.kill('SIGKILL'), processes['stats']!.kill('SIGKILL')]);
        await sleep(away);
        await Promise.all([processes['console']!.restart(), processes['stats']!.restart()]);
      },
    },
    {
      name: 'nats',
      unharmed: false,
      async run({ nats }, away) {
        await nats!.kill();
        await sleep(away);
        await nats!.start();
      },
    },
  ],
};

describe.each(arrangements('audit-ledger'))('%s', (arrangement) => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startGateway({ arrangement });
    await gateway.configure(scriptedModels(upstream.url, ['ok']));
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream?.close();
  });

  test('nothing that was acknowledged is without its record', async () => {
    const dice = createDice(7);
    const callers = new Callers(gateway);
    await callers.untilServed('alpha ok', 60_000);
    const changes = new Changes(gateway);
    let loading = true;
    const load = Array.from({ length: 4 }, async (_, one) => {
      for (let at = one; loading; at++) {
        await callers.ask(clientNames[at % 4]!, onEach('ok')[(at >> 2) % 4]!, { stream: at % 2 === 0 }).done;
        await sleep(20);
      }
    });
    const share = wanted / (kills[gateway.nats ? 'apart' : 'together'].length + 1);
    for (const [index, { name, unharmed, run }] of kills[gateway.nats ? 'apart' : 'together'].entries()) {
      await changes.reach(Math.ceil(share * (index + 1)));
      await sleep(dice() * 100);
      const from = callers.ledger.length;
      await run(gateway, 200 + dice() * 600);
      // Changes are acknowledged again.
      await changes.reach(changes.acknowledged.size + writers);
      const faults = callers.ledger.slice(from).filter(({ endedAt, status, ending }) => endedAt !== null && (status !== 200 || ending !== 'complete'));
      if (unharmed) expect({ name, faults: faults.map(({ status, ending, text }) => ({ status, ending, text })) }).toEqual({ name, faults: [] });
      else await callers.untilServed('alpha ok', 60_000);
    }
    await changes.reach(wanted);
    await changes.stop();
    loading = false;
    await Promise.all(load);
    expect(changes.acknowledged.size).toBeGreaterThanOrEqual(wanted);
    await checkLedger(gateway, changes);
    // In one process, rows of the last moment before a kill go with it (outbox.test.ts says how long that is); what was counted was counted once.
    if (arrangement === 'split') await callers.checkRows();
    await callers.checkSums();
    callers.close();
  }, 600_000);
});
