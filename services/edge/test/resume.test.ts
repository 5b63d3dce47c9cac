/** Streams that are cut and taken up again: byte for byte, from any edge, by their owner alone, within bounds of time and memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type Bus, connectNatsBus, createMemoryBus, type ServerStream } from '@model-gateway/bus';
import { frameFlag, type Job } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { sampleRow } from '../../../tests/support/bus-samples.ts';
import { natsAvailable, startNatsServer } from '../../../tests/support/nats-server.ts';
import { type Cut, read, readAll, references, resuming } from './streams-support.ts';
import { callers, quiet, type Stage, serveBehind, startEdge, until } from './support.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

type Stream = ServerStream<'translator.run'>;
const [one, two] = callers;
const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Run {
  job: Job;
  stream: Stream;
  cancelled: string | null;
  /** Sends these events. false: wait. */
  send(...events: readonly string[]): boolean;
  finish(): void;
}

/** Plays a translator whose runs the test drives. */
function translator(): { runs: Run[]; run(job: Job, stream: Stream): void } {
  const runs: Run[] = [];
  return {
    runs,
    run(job, stream) {
      const one: Run = {
        job,
        stream,
        cancelled: null,
        send: (...events) => events.every((event) => stream.data(Buffer.from(event), frameFlag.messageEnd)),
        finish: () => stream.tail({ row: { ...sampleRow(job.id), started_at: job.startedAt } }),
      };
      stream.onCancel((reason) => {
        one.cancelled = reason;
      });
      runs.push(one);
      if (job.streamForm !== 'whole') stream.head({ status: 200, headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' } });
    },
  };
}

type Config = NonNullable<Parameters<typeof startEdge>[1]>;

/** One edge, or two on one bus. */
async function start(config: Config = {}, edges = 1): Promise<{ stages: Stage[]; runs: Run[]; rows: Stage['rows'] }> {
  const bus = createMemoryBus({ logger: quiet(), strict: true, drainMs: 500 });
  return startOn(
    bus,
    Array.from({ length: edges }, () => bus),
    config,
  );
}

async function startOn(behind: Bus, buses: readonly Bus[], config: Config): Promise<{ stages: Stage[]; runs: Run[]; rows: Stage['rows'] }> {
  const { runs, run } = translator();
  const { rows } = serveBehind(behind, { run });
  closing.push(() => behind.drain());
  const stages: Stage[] = [];
  for (const bus of buses) {
    const stage = await startEdge({ bus, rows }, config);
    stages.push(stage);
    closing.push(() => stage.stop());
  }
  return { stages, runs, rows };
}

/** Reads a stream up to its event `count`, and leaves. */
async function cutAfter(stage: Stage, runs: Run[], { path, body, events }: (typeof references)[string], count: number): Promise<{ cut: Cut; run: Run }> {
  const before = runs.length;
  const reading = read(`${stage.url}${path}`, one, { method: 'POST', body, headers: resuming });
  await until(() => runs.length > before, 'the translator has the request');
  const run = runs[before]!;
  run.send(...events.slice(0, count));
  // Without an event there is nothing to see: the head alone comes when a keep-alive does.
  const reply = await reading.reply;
  const expected = events.slice(0, count).join('');
  await until(() => reading.text().length >= expected.length, `${count} events`);
  reading.leave();
  await reading.ended;
  return { cut: { status: reply.statusCode ?? 0, headers: reply.headers, text: reading.text() }, run };
}

const streamOf = ({ headers }: { headers: Cut['headers'] }): string => String(headers['x-gateway-stream']);

async function everyCut(stages: Stage[], runs: Run[], rows: Stage['rows'], reference: (typeof references)[string]): Promise<void> {
  const { events } = reference;
  const [first, last] = [stages[0]!, stages.at(-1)!];
  for (let count = 0; count <= events.length; count++) {
    const { cut, run } = await cutAfter(first, runs, reference, count);
    expect(cut.text).toBe(events.slice(0, count).join(''));
    // Half of what is missing comes while nobody reads, half when somebody does again.
    const middle = Math.ceil((count + events.length) / 2);
    run.send(...events.slice(count, middle));
    const asked =
      count % 2 === 0
        ? read(`${last.url}/v1/streams/${streamOf(cut)}?after=${count}`, one)
        : read(`${last.url}/v1/streams/${streamOf(cut)}`, one, { headers: { 'last-event-id': String(count) } });
    const reply = await asked.reply;
    expect(reply.statusCode).toBe(200);
    expect(reply.headers).toMatchObject({ 'content-type': cut.headers['content-type'], 'x-gateway-stream': streamOf(cut) });
    run.send(...events.slice(middle));
    run.finish();
    expect(await asked.ended).toBe('whole');
    expect(asked.text()).toBe(events.slice(count).join(''));
    expect(run.cancelled).toBeNull();
    // It is kept on, and all of it can be read again.
    const again = await readAll(`${first.url}/v1/streams/${streamOf(cut)}`, one);
    expect(again.text).toBe(events.join(''));
    const row = () => rows.filter(({ id }) => id === run.job.id);
    await until(() => row().length > 0, 'the row');
    expect(row()).toMatchObject([{ status: 200, error_code: null }]);
  }
}

describe.each(Object.entries(references))('a stream of %s that is cut at any event', (_name, reference) => {
  test('goes on byte for byte, on the same edge', async () => {
    const { stages, runs, rows } = await start({ keepAliveMs: 60 });
    await everyCut(stages, runs, rows, reference);
  });

  test('goes on byte for byte, on another edge', async () => {
    const { stages, runs, rows } = await start({ keepAliveMs: 60 }, 2);
    await everyCut(stages, runs, rows, reference);
  });

  (natsAvailable('resumed streams over NATS') ? test : test.skip)('goes on byte for byte, on another edge over NATS', async () => {
    const server = await startNatsServer();
    closing.push(() => server.dispose());
    const connect = () => connectNatsBus({ url: server.url, name: 'edge', logger: quiet(), drainMs: 500 });
    const buses = await Promise.all([connect(), connect(), connect()]);
    for (const bus of buses.slice(1)) closing.push(() => bus.drain());
    await until(() => buses.every(({ connected }) => connected), 'all are connected');
    const { stages, runs, rows } = await startOn(buses[0]!, buses.slice(1), { keepAliveMs: 60 });
    await everyCut(stages, runs, rows, reference);
  });
});

const chat = references['chat']!;

describe('who asks for it, and who does not', () => {
  test.each([
    ['without the header', chat, {}],
    ['with another value', chat, { 'x-gateway-resume': 'true' }],
    ['for a whole reply', { ...chat, body: { ...chat.body, stream: false } }, resuming],
    ['for a JSON array', { ...references['generate-content']!, path: '/v1beta/models/m:streamGenerateContent' }, resuming],
  ])('%s nothing is kept, and a caller who leaves ends the call', async (_name, { path, body }, headers) => {
    const { stages, runs, rows } = await start({ keepAliveMs: 60 });
    const reading = read(`${stages[0]!.url}${path}`, one, { method: 'POST', body, headers });
    await until(() => runs.length === 1, 'the request');
    if (runs[0]!.job.streamForm !== 'whole') {
      runs[0]!.send('data: 1\n\n');
      expect((await reading.reply).headers['x-gateway-stream']).toBeUndefined();
    }
    reading.leave();
    await until(() => runs[0]!.cancelled === 'client gone', 'the translator is cancelled');
    await until(() => rows.length === 1, 'the row');
    expect(rows[0]).toMatchObject({ status: 499, error_code: 'client_gone' });
  });

  test('an error instead of a stream is answered as ever, and nothing is kept of it', async () => {
    const { stages, runs } = await start();
    const reading = read(`${stages[0]!.url}${chat.path}`, one, { method: 'POST', body: { ...chat.body, model: 'nobody' }, headers: resuming });
    expect((await reading.reply).statusCode).toBe(404);
    expect(await reading.ended).toBe('whole');
    expect(runs).toEqual([]);
  });
});

describe('asking for the rest', () => {
  const cutOnce = async (config: Config = {}, edges = 1) => {
    const started = await start(config, edges);
    const { cut, run } = await cutAfter(started.stages[0]!, started.runs, chat, 3);
    return { ...started, run, id: streamOf(cut), url: `${started.stages[0]!.url}/v1/streams/${streamOf(cut)}` };
  };

  test.each(['-1', '1.5', 'x', '', ' 1', '1e3', '9'.repeat(20)])('the position %j is refused with 400', async (after) => {
    const { url, run } = await cutOnce();
    expect((await readAll(`${url}?after=${encodeURIComponent(after)}`, one)).status).toBe(400);
    if (after.trim() === after && after !== '') expect((await readAll(url, one, { 'last-event-id': after })).status).toBe(400);
    expect(run.cancelled).toBeNull();
  });

  test('a position that the stream has not come to is refused, in the shape of the caller', async () => {
    const { url } = await cutOnce();
    const late = await readAll(`${url}?after=99`, one, { 'anthropic-version': '2023-06-01' });
    expect([late.status, JSON.parse(late.text)]).toMatchObject([400, { type: 'error', error: { type: 'invalid_request_error' } }]);
    const google = await readAll(`${url}?after=99`, one, { 'x-goog-api-client': 'x' });
    expect(JSON.parse(google.text)).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } });
  });

  test('for others it is not there, whatever they ask, and they learn nothing from the answer', async () => {
    const { stages, id, run } = await cutOnce({}, 2);
    const shape = ({ status, text }: Cut) => ({ status, text });
    for (const { url } of stages) {
      const foreign = await readAll(`${url}/v1/streams/${id}?after=1`, two);
      expect(foreign.status).toBe(404);
      const changed = `${id.slice(0, -1)}${id.endsWith('A') ? 'B' : 'A'}`;
      for (const other of [changed, 'stream_1', `stream_${'a'.repeat(54)}`, 'x'.repeat(3000), '%00', 'gw.v1.%3E'])
        expect(shape(await readAll(`${url}/v1/streams/${other}?after=1`, one))).toEqual(shape(foreign));
      expect((await readAll(`${url}/v1/streams/`, one)).status).toBe(404);
      expect((await readAll(`${url}/v1/streams/${id}/x`, one)).status).toBe(404);
      expect((await readAll(`${url}/v1/streams/${id}`, { key: 'nobody', id: '' })).status).toBe(401);
      expect((await readAll(`${url}/v1/streams/${id}`, one, {}, 'DELETE')).headers['allow']).toBe('GET, HEAD');
    }
    expect(run.cancelled).toBeNull();
  });

  test('HEAD says that it is there, and takes it from nobody', async () => {
    const { stages, runs } = await start();
    const url = stages[0]!.url;
    const reading = read(`${url}${chat.path}`, one, { method: 'POST', body: chat.body, headers: resuming });
    await until(() => runs.length === 1, 'the request');
    runs[0]!.send(chat.events[0]!);
    const id = streamOf(await reading.reply);
    const head = await readAll(`${url}/v1/streams/${id}`, one, {}, 'HEAD');
    expect([head.status, head.text, head.headers['x-gateway-stream']]).toEqual([200, '', id]);
    runs[0]!.send(...chat.events.slice(1));
    runs[0]!.finish();
    expect(await reading.ended).toBe('whole');
    expect(reading.text()).toBe(chat.events.join(''));
  });

  test('a second reader takes the stream over from the first', async () => {
    const { stages, runs } = await start({}, 2);
    const reading = read(`${stages[0]!.url}${chat.path}`, one, { method: 'POST', body: chat.body, headers: resuming });
    await until(() => runs.length === 1, 'the request');
    runs[0]!.send(...chat.events.slice(0, 2));
    const id = streamOf(await reading.reply);
    const readers = [reading];
    for (const { url } of [stages[1]!, stages[0]!, stages[1]!]) {
      const next = read(`${url}/v1/streams/${id}`, one);
      expect((await next.reply).statusCode).toBe(200);
      expect(await readers.at(-1)!.ended).toBe('broken');
      readers.push(next);
    }
    runs[0]!.send(...chat.events.slice(2));
    runs[0]!.finish();
    expect(await readers.at(-1)!.ended).toBe('whole');
    expect(readers.at(-1)!.text()).toBe(chat.events.join(''));
    expect(runs[0]!.cancelled).toBeNull();
  });
});

describe('bounds', () => {
  const event = (n: number, bytes = 1000): string => `data: ${n} ${'x'.repeat(bytes)}\n\n`;

  test('the upstream runs on for a while after its caller left, then it is given up, and the stream is gone', async () => {
    const { stages, runs, rows } = await start({ resumeMs: 300 });
    const { cut, run } = await cutAfter(stages[0]!, runs, chat, 2);
    expect(run.cancelled).toBeNull();
    await until(() => run.cancelled === 'client gone', 'the translator is cancelled');
    await until(() => rows.length === 1, 'the row');
    expect(rows[0]).toMatchObject({ status: 499, error_code: 'client_gone' });
    const gone = await readAll(`${stages[0]!.url}/v1/streams/${streamOf(cut)}?after=2`, one);
    expect([gone.status, JSON.parse(gone.text)]).toMatchObject([410, { error: { code: 'stream_gone' } }]);
  });

  test('of a long stream the oldest events drop out: their positions are gone, the others are not', async () => {
    const { stages, runs } = await start({ resumeBytes: 256 * 1024 });
    const { cut, run } = await cutAfter(stages[0]!, runs, { ...chat, events: [event(0), event(1)] }, 2);
    let sent = 2;
    while (sent < 3000) run.send(event(sent++));
    const url = `${stages[0]!.url}/v1/streams/${streamOf(cut)}`;
    const gone = await readAll(`${url}?after=2`, one);
    expect([gone.status, JSON.parse(gone.text)]).toMatchObject([410, { error: { code: 'stream_gone' } }]);
    expect(run.cancelled).toBeNull();
    run.finish();
    expect((await readAll(`${url}?after=2900`, one)).text).toBe(Array.from({ length: 100 }, (_, at) => event(2900 + at)).join(''));
  });

  test('a reader that reads nothing holds up its upstream, not the memory; when it leaves the run goes on', async () => {
    const { stages, runs } = await start({ resumeBytes: 1024 * 1024 });
    const reading = read(`${stages[0]!.url}${chat.path}`, one, { method: 'POST', body: chat.body, headers: resuming, paused: true });
    await until(() => runs.length === 1, 'the request');
    const run = runs[0]!;
    let sent = 0;
    let writable = true;
    run.stream.onWritable(() => {
      writable = true;
    });
    const flood = async (): Promise<void> => {
      for (let quietTurns = 0; quietTurns < 50; quietTurns++) {
        while (writable && sent < 20_000) {
          writable = run.send(event(sent++));
          quietTurns = 0;
        }
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    };
    await flood();
    // The window of the bus, what the socket takes, and what may wait here.
    expect(sent * 1000).toBeLessThan(8 * 1024 * 1024);
    const id = streamOf(await reading.reply);
    reading.leave();
    await until(() => writable, 'the run goes on');
    await flood();
    expect(sent).toBe(20_000);
    run.finish();
    const rest = await readAll(`${stages[0]!.url}/v1/streams/${id}?after=19990`, one);
    expect(rest.text).toBe(Array.from({ length: 10 }, (_, at) => event(19_990 + at)).join(''));
  });

  test('all together hold so much: the stream that was left first is dropped, and its upstream given up', async () => {
    const { stages, runs } = await start({ resumeTotalBytes: 1024 * 1024, resumeBytes: 512 * 1024 });
    const ids: string[] = [];
    for (let at = 0; at < 6; at++) {
      const { cut, run } = await cutAfter(stages[0]!, runs, { ...chat, events: [event(0)] }, 1);
      ids.push(streamOf(cut));
      for (let n = 1; n < 300; n++) run.send(event(n));
    }
    await until(() => runs[0]!.cancelled === 'client gone', 'the first is cancelled');
    expect(runs.at(-1)!.cancelled).toBeNull();
    expect((await readAll(`${stages[0]!.url}/v1/streams/${ids[0]}?after=1`, one)).status).toBe(410);
    runs.at(-1)!.finish();
    expect((await readAll(`${stages[0]!.url}/v1/streams/${ids.at(-1)}?after=299`, one)).status).toBe(200);
  });

  test('a thousand cut streams leave nothing behind', async () => {
    const { stages, runs, rows } = await start({ resumeMs: 200, keepAliveMs: 60_000 });
    const cutMany = async (count: number): Promise<void> => {
      for (let done = 0; done < count; done += 25) {
        await Promise.all(Array.from({ length: 25 }, () => cutOne()));
        // The edge takes 200 streams at once, and those that were cut count until they are given up.
        await until(() => runs.filter(({ cancelled }) => cancelled === null).length <= 100, 'most are given up');
      }
      const from = runs.length - count;
      await until(() => runs.slice(from).every(({ cancelled }) => cancelled !== null), 'all are given up');
      for (const run of runs) run.stream = null as never;
    };
    const cutOne = async (): Promise<void> => {
      const reading = read(`${stages[0]!.url}${chat.path}`, one, {
        method: 'POST',
        body: chat.body,
        headers: { ...resuming, 'z-request-id': `n${Math.random()}` },
      });
      const mine = (run: Run) => run.job.clientRequestId === reading.request.getHeader('z-request-id');
      await until(() => runs.some(mine), 'the request');
      runs.find(mine)?.send(event(0, 20_000));
      await reading.reply;
      reading.leave();
    };
    const heap = (): number => {
      collect();
      return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
    };
    await cutMany(200);
    const before = heap();
    await cutMany(1000);
    expect(rows.length).toBeGreaterThan(0);
    const { bus } = stages[0]!;
    await until(() => bus.stats().openCalls === 0, 'no call is open');
    // A stream alone would be 20 kB.
    expect(heap() - before).toBeLessThan(16 * 1024 * 1024);
  });
});

describe('when edges leave, keys are revoked, translators die', () => {
  test('the edge that had it is gone: 410 for its owner, 404 for others', async () => {
    const { stages, runs } = await start({ drainMs: 50 }, 2);
    const { cut } = await cutAfter(stages[0]!, runs, chat, 2);
    await stages[0]!.stop();
    const url = `${stages[1]!.url}/v1/streams/${streamOf(cut)}?after=2`;
    expect((await readAll(url, one)).status).toBe(410);
    expect((await readAll(url, two)).status).toBe(404);
  });

  test('while it leaves, another edge still gets the rest, and the end', async () => {
    const { stages, runs } = await start({ drainMs: 20_000 }, 2);
    const { cut, run } = await cutAfter(stages[0]!, runs, chat, 2);
    const stopped = stages[0]!.stop();
    const rest = read(`${stages[1]!.url}/v1/streams/${streamOf(cut)}?after=2`, one);
    expect((await rest.reply).statusCode).toBe(200);
    run.send(...chat.events.slice(2));
    run.finish();
    expect(await rest.ended).toBe('whole');
    expect(rest.text()).toBe(chat.events.slice(2).join(''));
    await stopped;
  });

  test('what does not end in time is ended in its own terms, with a row', async () => {
    const { stages, runs, rows } = await start({ drainMs: 300 }, 2);
    const { cut, run } = await cutAfter(stages[0]!, runs, references['messages']!, 5);
    const rest = read(`${stages[1]!.url}/v1/streams/${streamOf(cut)}?after=5`, one);
    await rest.reply;
    await stages[0]!.stop();
    expect(await rest.ended).toBe('whole');
    expect(rest.text()).toMatch(/"_gateway_warning".*\n\nevent: message_stop/s);
    expect(run.cancelled).toBe('drain');
    await until(() => rows.length === 1, 'the row');
    expect(rows[0]).toMatchObject({ error_code: 'draining', ending: 'finish' });
  });

  test('a stream that nobody reads ends with its key', async () => {
    const { stages, runs } = await start();
    const { run } = await cutAfter(stages[0]!, runs, chat, 2);
    stages[0]!.allow(one.id, false);
    await until(() => run.cancelled !== null, 'the run is given up');
  });

  test('a translator that dies leaves a proper end behind, also for who comes later', async () => {
    const { stages, runs } = await start();
    const { cut, run } = await cutAfter(stages[0]!, runs, references['messages']!, 5);
    run.stream.fail(new GatewayError('service_lost'));
    const rest = await readAll(`${stages[0]!.url}/v1/streams/${streamOf(cut)}?after=5`, one);
    expect(rest.text).toMatch(/"_gateway_warning".*\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n$/s);
  });
});
