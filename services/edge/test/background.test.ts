/** Runs without a caller, the way to their events by the turn's id, and the end of a turn whose translator died. */
import { afterEach, describe, expect, test } from '@jest/globals';
import type { ServerStream } from '@model-gateway/bus';
import { frameFlag, type Job, type TurnsCall, type TurnsWrite } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { sampleRow } from '../../../tests/support/bus-samples.ts';
import { read, readAll, references, resuming } from './streams-support.ts';
import { callers, type Stage, startEdge, until } from './support.ts';

type Stream = ServerStream<'translator.run'>;
const [one, two] = callers;
const running: Stage[] = [];
afterEach(async () => {
  for (const stage of running.splice(0)) await stage.stop();
});

const { path, events } = references['responses']!;
const queued = JSON.stringify({ id: 'resp_1', object: 'response', status: 'queued', background: true });

interface Played extends Stage {
  jobs: Job[];
  streams: Stream[];
  cancelled: string[];
  writes: { request: TurnsWrite; response: unknown }[];
  send(...events: readonly string[]): void;
  finish(): void;
}

/** `head`: what the translator says of the reply. Calls on turns go on with the stream of the first job. */
async function play(head: (job: Job) => object, config: Parameters<typeof startEdge>[1] = {}): Promise<Played> {
  const jobs: Job[] = [];
  const streams: Stream[] = [];
  const cancelled: string[] = [];
  const writes: Played['writes'] = [];
  const stage = await startEdge(
    {
      run(job, stream) {
        jobs.push(job);
        streams.push(stream);
        stream.onCancel((reason) => cancelled.push(reason));
        stream.head({ status: 200, headers: { 'content-type': 'text/event-stream' }, ...head(job) });
      },
      turns(call: TurnsCall, _body, stream) {
        const after = Number(new URLSearchParams(call.query).get('starting_after') ?? -1);
        stream.tail({ resume: { stream: jobs[0]?.streamId ?? 'none', after } });
      },
      write: (request, body) => void writes.push({ request, response: JSON.parse(Buffer.from(body).toString()) }),
    },
    config,
  );
  running.push(stage);
  return Object.assign(stage, {
    jobs,
    streams,
    cancelled,
    writes,
    send: (...some: readonly string[]) => some.forEach((event) => streams[0]?.data(Buffer.from(event), frameFlag.messageEnd)),
    finish: () => streams[0]?.tail({ row: { ...sampleRow(jobs[0]!.id), started_at: jobs[0]!.startedAt } }),
  });
}

const inBackground = () => ({ turn: { id: 'resp_1' }, background: { answer: queued } });
const post = (url: string, body: object = { model: 'm', input: 'x', background: true }, headers: Record<string, string> = {}) =>
  read(`${url}${path}`, one, { method: 'POST', body, headers });
const gets = (url: string, query: string, caller = one) => readAll(`${url}/v1/responses/resp_1?stream=true${query}`, caller);

describe('a run in the background', () => {
  test('its caller has the answer at once, and the run goes on long after', async () => {
    const stage = await play(inBackground, { resumeMs: 100 });
    const asked = post(stage.url);
    const reply = await asked.reply;
    expect(await asked.ended).toBe('whole');
    expect([reply.statusCode, asked.text(), reply.headers['content-type'], reply.headers['x-gateway-stream']]).toEqual([
      200,
      queued,
      'application/json',
      stage.jobs[0]?.streamId,
    ]);
    expect(stage.rows).toEqual([]);
    stage.send(...events.slice(0, 3));
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(stage.cancelled).toEqual([]);
    const reading = read(`${stage.url}/v1/responses/resp_1?stream=true`, one);
    expect((await reading.reply).headers['content-type']).toMatch(/^text\/event-stream/);
    stage.send(...events.slice(3));
    stage.finish();
    expect(await reading.ended).toBe('whole');
    expect(reading.text()).toBe(events.join(''));
    await until(() => stage.rows.length === 1, 'the row');
    expect(stage.rows).toMatchObject([{ status: 200, error_code: null }]);
    await until(() => stage.bus.stats().openCalls === 0, 'nothing is open');
    // And then it is not kept for ever.
    let last = await gets(stage.url, '');
    const end = performance.now() + 30_000;
    while (last.status === 200 && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      last = await gets(stage.url, '');
    }
    expect([last.status, JSON.parse(last.text)]).toMatchObject([
      400,
      { error: { code: 'stream_expired', message: expect.stringContaining('without `stream`') } },
    ]);
  });

  test('starting_after goes on with the events behind that number, the numbers as they were', async () => {
    const stage = await play(inBackground);
    await post(stage.url).ended;
    stage.send(...events);
    stage.finish();
    for (let after = -1; after < events.length; after++) {
      const rest = await gets(stage.url, after < 0 ? '' : `&starting_after=${after}`);
      expect(rest.text).toBe(events.slice(after + 1).join(''));
    }
    expect((await gets(stage.url, `&starting_after=${events.length}`)).status).toBe(400);
    expect((await readAll(`${stage.url}/v1/streams/${stage.jobs[0]?.streamId}?after=2`, one)).text).toBe(events.slice(2).join(''));
    expect((await readAll(`${stage.url}/v1/streams/${stage.jobs[0]?.streamId}?after=2`, two)).status).toBe(404);
    // A turn that a store gave to another key by mistake.
    expect((await gets(stage.url, '', two)).status).toBe(400);
  });

  test('events that are numbered otherwise are found by their numbers', async () => {
    const stage = await play(inBackground);
    await post(stage.url).ended;
    const others = [10, 11, 15, 16].map((number) => `data: {"type":"x","text":"\\"sequence_number\\":99","sequence_number":${number}}\n\n`);
    stage.send(...others);
    stage.finish();
    for (const [after, from] of [
      [9, 0],
      [10, 1],
      [11, 2],
      [12, 2],
      [14, 2],
      [15, 3],
      [16, 4],
    ] as const)
      expect((await gets(stage.url, `&starting_after=${after}`)).text).toBe(others.slice(from).join(''));
  });

  test.each([{}, resuming])('a caller who asked for a stream reads it from the beginning, and may leave (%j)', async (headers) => {
    const stage = await play(() => ({ turn: { id: 'resp_1' }, background: {} }), { resumeMs: 100, keepAliveMs: 40 });
    const asked = post(stage.url, { model: 'm', input: 'x', background: true, stream: true }, headers);
    expect((await asked.reply).headers['x-gateway-stream']).toBe(stage.jobs[0]?.streamId);
    stage.send(...events.slice(0, 4));
    await until(() => asked.text() === events.slice(0, 4).join(''), 'four events');
    asked.leave();
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(stage.cancelled).toEqual([]);
    stage.send(...events.slice(4));
    stage.finish();
    expect((await gets(stage.url, '&starting_after=3')).text).toBe(events.slice(4).join(''));
  });

  test('a reader that reads nothing does not hold it up', async () => {
    const stage = await play(inBackground, { resumeBytes: 256 * 1024 });
    await post(stage.url).ended;
    const reading = read(`${stage.url}/v1/responses/resp_1?stream=true`, one, { paused: true });
    await reading.reply;
    let writable = true;
    let sent = 0;
    stage.streams[0]?.onWritable(() => {
      writable = true;
    });
    while (sent < 20_000) {
      await until(() => writable, 'the run goes on');
      writable = stage.streams[0]!.data(Buffer.from(`data: ${'x'.repeat(1000)}\n\n`), frameFlag.messageEnd);
      sent++;
    }
    stage.finish();
    await until(() => stage.rows.length === 1, 'the row');
    reading.leave();
  });

  test('it ends with its key', async () => {
    const stage = await play(inBackground);
    await post(stage.url).ended;
    stage.send(...events.slice(0, 2));
    stage.allow(one.id, false);
    await until(() => stage.cancelled.length === 1, 'the run is given up');
    await until(() => stage.rows.length === 1, 'the row');
  });

  test('it counts as a request under way, and is ended with the process', async () => {
    const stage = await play(inBackground, { maxGlobalConcurrency: 1, drainMs: 200 });
    await post(stage.url).ended;
    expect((await gets(stage.url, '')).status).toBe(503);
    running.splice(0);
    await stage.stop();
    expect(stage.cancelled).toEqual(['drain']);
    expect(stage.rows.filter(({ id }) => id === stage.jobs[0]?.id)).toMatchObject([{ error_code: 'draining' }]);
    expect(stage.writes).toMatchObject([{ request: { kind: 'finish', owner: one.id, id: 'resp_1', status: 'failed', authority: 1 } }]);
  });
});

describe('a translator that dies', () => {
  test('of a stored turn the edge writes the end, as its caller saw it', async () => {
    const stage = await play(() => ({ turn: { id: 'resp_1' } }));
    const asked = post(stage.url, { model: 'm', input: 'x', stream: true });
    await until(() => stage.streams.length === 1, 'the request');
    stage.send(...events.slice(0, 7));
    await asked.reply;
    stage.streams[0]?.fail(new GatewayError('service_lost'));
    expect(await asked.ended).toBe('whole');
    await until(() => stage.writes.length === 1, 'the write');
    const last = asked.text().trimEnd().split('\n').at(-1) ?? '';
    const seen = JSON.parse(last.slice('data: '.length)) as { response: unknown };
    expect(stage.writes).toEqual([{ request: { kind: 'finish', owner: one.id, id: 'resp_1', status: 'incomplete', authority: 1 }, response: seen.response }]);
  });

  test('of a run in the background: it has failed', async () => {
    const stage = await play(inBackground);
    await post(stage.url).ended;
    stage.send(...events.slice(0, 7));
    stage.streams[0]?.fail(new GatewayError('service_lost'));
    await until(() => stage.writes.length === 1, 'the write');
    expect(stage.writes).toMatchObject([
      { request: { status: 'failed' }, response: { id: 'resp_1', status: 'failed', error: { code: 'server_error' }, incomplete_details: null } },
    ]);
  });

  test('of a turn that had ended, and of what is not stored, nothing is written', async () => {
    const stage = await play((job) => (job.requestedModel === 'm' && job.headers['x-store'] === 'yes' ? { turn: { id: 'resp_1' } } : {}));
    const stored = post(stage.url, { model: 'm', input: 'x', stream: true }, { 'x-store': 'yes' });
    await until(() => stage.streams.length === 1, 'the request');
    stage.send(...events);
    stage.streams[0]?.fail(new GatewayError('service_lost'));
    await stored.ended;
    const other = post(stage.url, { model: 'm', input: 'x', stream: true });
    await until(() => stage.streams.length === 2, 'the request');
    stage.streams[1]?.data(Buffer.from(events[0]!), frameFlag.messageEnd);
    stage.streams[1]?.fail(new GatewayError('service_lost'));
    await other.ended;
    await until(() => stage.rows.length === 2, 'both rows');
    expect(stage.writes).toEqual([]);
  });
});
