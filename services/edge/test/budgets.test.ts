/** The budget limiter: which models count, in which currency, and what happens while statistics are away. */
import { describe, expect, test } from '@jest/globals';
import { type Bus, createMemoryBus } from '@model-gateway/bus';
import type { ResolvedName, Snapshot } from '@model-gateway/contracts';
import { pricingSchema } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { MemoryState } from '@model-gateway/distributed-state';
import { fromRecord, type PriceOf } from '@model-gateway/model-catalog';
import { type ClientAdapter, findProtocol, type RouteMatch } from '@model-gateway/protocols';
import { balancer, model, snapshotOf, upstream } from '../../../packages/routing/test/samples.ts';
import { BudgetLimiter } from '../src/admission/budgets.ts';
import type { Principal } from '../src/admission/credentials.ts';
import { readWanted } from '../src/admission/read-wanted.ts';
import { reservationsOf } from '../src/admission/reservation.ts';

const price = (name: string, currency: string, output: number) => fromRecord(pricingSchema.parse({ name, model: name, currency, input: 0, output }));
const prices = new Map([
  ['cheap', price('cheap', 'USD', 1_000_000)],
  ['dear', price('dear', 'USD', 10_000_000)],
  ['foreign', price('foreign', 'EUR', 90_000_000)],
]);
const priceOf: PriceOf = ({ name }) => prices.get(name) ?? null;
const snapshot: Snapshot = snapshotOf(
  ['cheap', 'dear', 'foreign', 'unpriced'].map((name) => model(name, { upstream_model_id: 'nobody-knows' })),
  [upstream('up')],
  [
    balancer('mixed', [
      ['cheap', 1],
      ['dear', 0],
      ['foreign', 1],
      ['unpriced', 1],
    ]),
  ],
);
const named = (name: string): ResolvedName => snapshot.names.get(name)!;
const caller = (limit: number): Principal =>
  ({
    key: { name: 'k', budget: { limit, period: 'total', currency: 'USD' } },
    group: { name: 'g', budget: { limit: 1_000, period: 'day', currency: 'EUR' } },
  }) as unknown as Principal;
const body = Buffer.from('{"max_tokens":1000}');
const asked = (name: string) => ({
  snapshot,
  named: named(name),
  body,
  values: { max_tokens: { start: 14, end: 18 } },
  client: findProtocol('alpha')!.client!,
});
const stay = () => undefined;
const lines: string[] = [];
const logger = { warn: (_: object, text: string) => void lines.push(text), info: (_: object, text: string) => void lines.push(text) } as never;

function open(spent: () => number | Promise<number>, elapsed = () => 0, rowsMs = 0, now = () => 0, held = () => 0) {
  const bus: Bus = createMemoryBus();
  bus.serve({ ask: { 'stats.spent': async ({ owners }) => ({ micros: await Promise.all(owners.map(spent)), tasks: owners.map(held) }) } });
  return new BudgetLimiter({ state: new MemoryState(), bus, priceOf, logger, now, elapsed, rowsMs });
}

test('a look at what is spent goes by the budget that it is given, and changes none that requests go by', async () => {
  const desk = open(() => 2_000);
  (await desk.reserve(caller(1), asked('cheap'), stay)).settle({ cost_micros: 0, currency: 'USD', routes: [] } as never);
  expect(await desk.isSpent(caller(100))).toBe(false);
  expect(await desk.isSpent(caller(0.001))).toBe(true);
  expect(await desk.isSpent(caller(1))).toBe(false);
  expect((await desk.shown()).map(({ limit_micros }) => limit_micros)).toEqual([1_000_000, 1_000_000_000]);
});

test('a refusal says when the budget begins anew, where it does', async () => {
  const messageOf = async (period: 'day' | 'total') => {
    const desk = open(
      () => 2_000_000,
      undefined,
      0,
      () => Date.UTC(2026, 1, 3, 12),
    );
    const poor = { key: { name: 'k', budget: { limit: 1, period, currency: 'USD' } }, group: { name: 'g' } } as unknown as Principal;
    return desk.reserve(poor, asked('cheap'), stay).then(
      () => 'let in',
      ({ message }: Error) => message,
    );
  };
  expect(await messageOf('day')).toBe('The budget of this access key is exhausted. It resets at 2026-02-04T00:00:00.000Z.');
  expect(await messageOf('total')).toBe('The budget of this access key is exhausted.');
});

test('of a load balancer the dearest counts, in each currency for itself; what has no price costs nothing', async () => {
  const desk = open(() => 0);
  const reservation = await desk.reserve(caller(1), asked('mixed'), stay);
  const shown = await desk.shown();
  expect(shown.map(({ kind, currency, reserved_micros }) => [kind, currency, reserved_micros])).toEqual([
    ['key', 'USD', 10_000],
    ['group', 'EUR', 90_000],
  ]);
  reservation.settle({ cost_micros: 1_234, currency: 'USD', routes: [], model: 'dear' } as never);
  reservation.settle({ cost_micros: 1_234, currency: 'USD', routes: [], model: 'dear' } as never);
  expect((await desk.shown()).map(({ spent_micros, reserved_micros }) => [spent_micros, reserved_micros])).toEqual([
    [1_234, 0],
    [0, 0],
  ]);
  await desk.reserve(caller(1), asked('unpriced'), stay);
  expect((await desk.shown()).map(({ reserved_micros }) => reserved_micros)).toEqual([0, 0]);
});

test('what served is paid for, and a spent budget says so', async () => {
  const desk = open(() => 0);
  const reservation = await desk.reserve(caller(0.005), asked('cheap'), stay);
  const row = { cost_micros: null, currency: null, model: 'cheap', routes: ['cheap', 'dear'], usage_source: 'upstream', upstream_model_id: 'x' };
  const used = {
    input_tokens: 0,
    output_tokens: 500,
    reasoning_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    cache_write_1h_tokens: 0,
    started_at: 0,
  };
  reservation.settle({ ...row, ...used } as never);
  await expect(desk.reserve(caller(0.005), asked('cheap'), stay)).rejects.toMatchObject({ code: 'budget_exhausted', status: 402 });
});

test('statistics that are away are told once, not for each budget and try, and that they are back', async () => {
  lines.length = 0;
  let away = true;
  let clock = 0;
  const desk = open(
    () => {
      if (away) throw new GatewayError('service_unavailable');
      return 0;
    },
    () => clock,
  );
  const ask = (name: string) =>
    desk.reserve({ key: { name, budget: { limit: 1, period: 'total', currency: 'USD' } }, group: { name: 'g' } } as unknown as Principal, asked('cheap'), stay);
  for (const name of ['a', 'b', 'a', 'b']) {
    await ask(name);
    for (const end = Date.now() + 20_000; lines.length < 1 && Date.now() < end; ) await new Promise(setImmediate);
    clock += 10_000;
  }
  expect(lines).toEqual([expect.stringContaining('cannot be read')]);
  away = false;
  await ask('a');
  for (const end = Date.now() + 20_000; lines.length < 2 && Date.now() < end; ) await new Promise(setImmediate);
  expect(lines.slice(1)).toEqual([expect.stringContaining('can be read again')]);
});

test('while statistics are away requests go on by what is known, and they are soon asked again', async () => {
  let asks = 0;
  let away = true;
  let time = 0;
  let clock = Date.UTC(2026, 5, 2, 12);
  const desk = open(
    () => {
      asks++;
      if (away) throw new GatewayError('service_unavailable');
      return 2_000_000;
    },
    () => time,
    0,
    () => clock,
  );
  (await desk.reserve(caller(1), asked('cheap'), stay)).settle({ cost_micros: 0, currency: 'USD', routes: [] } as never);
  const first = asks;
  away = false;
  time += 600;
  // Somebody sets the clock of the machine right meanwhile.
  clock -= 3_600_000;
  (await desk.reserve(caller(1), asked('cheap'), stay)).settle({ cost_micros: 0, currency: 'USD', routes: [] } as never);
  for (const end = Date.now() + 20_000; asks === first && Date.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(asks).toBeGreaterThan(first);
  await expect(desk.reserve(caller(1), asked('cheap'), stay)).rejects.toMatchObject({ code: 'budget_exhausted' });
});

test('what only statistics will know stays reserved until they were asked', async () => {
  let spent = 0;
  const desk = open(() => spent);
  const reservation = await desk.reserve(caller(0.0015), asked('cheap'), stay);
  const known = async () => (await desk.shown()).map(({ spent_micros, reserved_micros }) => [spent_micros, reserved_micros])[0];
  expect(await known()).toEqual([0, 1_000]);
  spent = 2_000;
  reservation.settleByRows();
  reservation.settle({ cost_micros: 0, currency: 'USD', routes: [] } as never);
  expect(await known()).toEqual([0, 1_000]);
  while ((await known())?.[1] !== 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await known()).toEqual([2_000, 0]);
  await expect(desk.reserve(caller(0.0015), asked('cheap'), stay)).rejects.toMatchObject({ code: 'budget_exhausted' });
});

test('what a task goes on holding is reserved here until statistics say so, by every edge, and is free when it has ended', async () => {
  let held = 0;
  let away = false;
  let time = 0;
  const spent = () => {
    if (away) throw new GatewayError('service_unavailable');
    return 0;
  };
  const openEdge = () =>
    open(
      spent,
      () => time,
      0,
      undefined,
      () => held,
    );
  const desk = openEdge();
  const known = async () => (await desk.shown()).map(({ reserved_micros, tasks_micros }) => [reserved_micros, tasks_micros])[0];
  const limited = caller(0.001);
  const reservation = await desk.reserve(limited, asked('cheap'), stay);
  expect([...reservation.amounts]).toEqual([['USD', 1_000]]);
  away = true;
  reservation.settleByTasks();
  reservation.settle({ cost_micros: 0, currency: 'USD', routes: [] } as never);
  // Statistics are away: nobody else knows of the task.
  time += 10_000;
  expect(await known()).toEqual([1_000, 0]);
  held = 1_000;
  away = false;
  for (const end = Date.now() + 20_000; (await known())?.[1] === 0 && Date.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const end = Date.now() + 20_000; (await known())?.[0] !== 1_000 && Date.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await known()).toEqual([1_000, 1_000]);
  // At once: tasks take minutes. An edge that starts anew knows as much.
  for (const edge of [desk, openEdge()])
    await expect(edge.reserve(limited, asked('cheap'), stay)).rejects.toMatchObject({ code: 'budget_exhausted', message: expect.stringContaining('tasks') });
  held = 0;
  time += 1_000;
  (await desk.reserve(limited, asked('cheap'), stay)).settle({ cost_micros: 0, currency: 'USD', routes: [] } as never);
  expect(await known()).toEqual([0, 0]);
});

describe('what is priced by the piece', () => {
  const byPiece = (mode: 'per_image' | 'per_second' | 'per_character') =>
    fromRecord(pricingSchema.parse({ name: 'dear', model: 'dear', currency: 'USD', mode, unit: 1_000_000 }));
  const reserved = (
    mode: Parameters<typeof byPiece>[0],
    protocol: 'alpha_images' | 'alpha_audio' | 'gamma' | 'passthrough',
    sent: object | FormData,
    path = '',
  ) => {
    const { client } = findProtocol(protocol) as { client: ClientAdapter };
    const isForm = sent instanceof FormData;
    const answer = new Response(isForm ? sent : JSON.stringify({ model: 'dear', ...sent }));
    const match = { operation: 'image', stream: 'whole', ...(isForm && { body: 'form' }), ...(path && { model: path }) } as RouteMatch;
    return answer.arrayBuffer().then((buffer) => {
      const bytes = Buffer.from(buffer);
      const contentType = isForm ? answer.headers.get('content-type')! : 'application/json';
      const { places, fields } = readWanted({ bytes, contentType }, match, client, () => undefined);
      const request = { snapshot, named: named('dear'), body: bytes, values: places.values, fields, files: places.files, client };
      return reservationsOf(request, () => byPiece(mode)).get('USD') ?? 0;
    });
  };
  const form = (fields: Record<string, string>, file: Buffer, name: string, type: string): FormData => {
    const made = new FormData();
    for (const [key, text] of Object.entries({ model: 'dear', ...fields })) made.append(key, text);
    made.append(name, new Blob([new Uint8Array(file)], { type }), 'a-file');
    return made;
  };
  const picture = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(9_000)]);
  /** 20 seconds. */
  const wave = Buffer.alloc(640_044);
  wave.write('RIFF', 0);
  wave.write('WAVEfmt ', 8);
  wave.writeUInt32LE(32_000, 28);

  test('images of a form are as many as it asks for', async () => {
    expect(await reserved('per_image', 'alpha_images', form({ n: '3', prompt: 'a cat' }, picture, 'image[]', 'image/png'))).toBe(3);
    expect(await reserved('per_image', 'alpha_images', form({ n: 'many' }, picture, 'image', 'image/png'))).toBe(1);
    expect(await reserved('per_image', 'alpha_images', { n: 4 })).toBe(4);
  });

  test('those of predict too, by the vendor’s own number where it does not say', async () => {
    const instances = [{ prompt: 'a cat' }];
    expect(await reserved('per_image', 'gamma', { instances, parameters: { sampleCount: 2 } }, 'dear')).toBe(2);
    expect(await reserved('per_image', 'gamma', { instances }, 'dear')).toBe(4);
    expect(await reserved('per_image', 'gamma', { contents: [], generationConfig: { candidateCount: 2 } }, 'dear')).toBe(2);
  });

  test('seconds are those of the file, of what is read aloud, or those asked for', async () => {
    const wav = await reserved('per_second', 'alpha_audio', form({}, wave, 'file', 'audio/wav'));
    expect([20, 21]).toContain(wav);
    // Packed tightly: no sound of today takes fewer bytes for a second.
    expect(await reserved('per_second', 'alpha_audio', form({}, Buffer.concat([Buffer.from('ID3'), Buffer.alloc(320_000)]), 'file', 'audio/mpeg'))).toBe(101);
    expect(await reserved('per_second', 'alpha_audio', { input: 'x'.repeat(600) })).toBe(60);
    expect(await reserved('per_second', 'passthrough', { input: { prompt: 'a cat' }, parameters: { duration: 5 } })).toBe(5);
    expect(await reserved('per_second', 'passthrough', { input: { prompt: 'a cat' } })).toBe(10);
    expect(await reserved('per_second', 'passthrough', { parameters: { duration: 1e300 } })).toBe(3_600);
  });

  test('characters are no more than bytes', async () => {
    expect(await reserved('per_character', 'alpha_audio', { input: 'x'.repeat(600) })).toBeGreaterThanOrEqual(600);
    expect(await reserved('per_character', 'alpha_audio', { input: 'x'.repeat(600) })).toBeLessThan(700);
  });
});

test('a picture is reserved as one, wherever the protocol puts it, and text as text', async () => {
  const picture = `iVBORw0KGgo${'A'.repeat(5_000_000)}`;
  const dear = fromRecord(pricingSchema.parse({ name: 'dear', model: 'dear', currency: 'USD', input: 1_000_000, output: 0 }));
  const reserved = (protocol: 'alpha' | 'beta' | 'gamma', value: object): number => {
    const { client } = findProtocol(protocol) as { client: ClientAdapter };
    const bytes = Buffer.from(JSON.stringify({ model: 'dear', ...value }));
    const { places } = readWanted({ bytes, contentType: 'application/json' }, { operation: 'generate', stream: null } as RouteMatch, client, () => undefined);
    return reservationsOf({ snapshot, named: named('dear'), body: bytes, values: places.values, files: places.files, client }, () => dear).get('USD') ?? 0;
  };
  const user = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });
  const source = { type: 'base64', media_type: 'image/png', data: picture };
  // A millionth a token: the picture, what surrounds it, and what vendors add.
  for (const amount of [
    reserved('alpha', user({ type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } })),
    reserved('beta', user({ type: 'image', source })),
    reserved('beta', user({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source }] })),
    reserved('gamma', { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: picture } }] }] }),
  ])
    expect(amount).toBeLessThan(3_000);
  expect(reserved('alpha', user({ type: 'text', text: 'Some prose. '.repeat(100_000) }))).toBeGreaterThan(400_000);
});
