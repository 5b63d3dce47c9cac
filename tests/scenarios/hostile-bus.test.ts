/**
 * A client with a password of the bus may send anything: no message ends a process or stops what waits behind it. Some hundred of each subject by
 * default; `BUS_FUZZ_RUNS=50000` sends that many. `FUZZ_SEED` says where it begins.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Bus, connectNatsBus } from '@model-gateway/bus';
import { askShapes, eventShapes, frameKind, openShapes } from '@model-gateway/contracts';
import { readFrame } from '../../packages/bus/src/nats/frame.ts';
import { frameSubject, isInbox, mintInbox } from '../../packages/bus/src/nats/subjects.ts';
import { connectRaw, type RawConnection } from '../../packages/bus/test/raw-connection.ts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { sampleAsks, sampleEvent, sampleOpens } from '../support/bus-samples.ts';
import { Callers, scriptedModels, sleep, until } from '../support/callers.ts';
import { splitAvailable, startGateway, type TestGateway } from '../support/gateway.ts';
import { drawsOf, hostileCall, hostileEvent, hostileFrame } from '../support/hostile-messages.ts';

const runs = Number(process.env['BUS_FUZZ_RUNS'] ?? 300);
const seed = Number(process.env['FUZZ_SEED'] ?? 1);
const perBreath = 250;
const suite = splitAvailable('hostile bus') ? describe : describe.skip;

suite('hostile messages on the bus', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let callers: Callers;
  /** By the name in their inboxes, which decides who may answer them. */
  const buses: Record<'edge' | 'translator', Bus> = {} as never;
  let hostile: RawConnection['connection'];
  /** Inboxes of the services' processes, by what they are. */
  const inboxes = new Map<string, string>();
  const streams = new Map<string, { number: number; salt: number }[]>();
  const mine = mintInbox('edge');
  const mineAsTranslator = mintInbox('translator');

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startGateway({ arrangement: 'split', scripts: true, env: { LOG_LEVEL: 'error' } });
    await gateway.configure(scriptedModels(upstream.url, ['ok', 'text:400+slow:20']));
    callers = new Callers(gateway);
    await callers.untilServed('alpha ok', 60_000);
    for (const name of ['edge', 'translator'] as const) buses[name] = await connectNatsBus({ url: gateway.busUrl!, name });
    hostile = (await connectRaw(gateway.busUrl!, 'edge')).connection;
    hostile.subscribe('gw.v1.inbox.>', {
      callback: (_error, { data }) => {
        const frame = readFrame(data);
        // Our own hostile frames are seen here too.
        if (!frame || !isInbox(frame.inbox) || frame.inbox === mine || frame.inbox === mineAsTranslator) return;
        inboxes.set(frame.inbox.split('.')[3]!, frame.inbox);
        if (frame.kind === frameKind.pulse || frame.kind === frameKind.ack) return;
        const known = streams.get(frame.inbox) ?? [];
        if (known.length < 200) streams.set(frame.inbox, [...known, { number: frame.number, salt: frame.salt }]);
      },
    });
    await until(() => Object.values(buses).every((bus) => bus.connected), 'the buses');
  });
  afterAll(async () => {
    callers?.close();
    await hostile?.close();
    for (const bus of Object.values(buses)) await bus.drain();
    await gateway?.stop();
    await upstream?.close();
  });

  /** Sends them in portions; after each, `answers` has to come before the next. */
  async function send(subject: string, make: (draw: ReturnType<typeof drawsOf>) => Uint8Array, answers: () => Promise<unknown>): Promise<void> {
    const draw = drawsOf(seed * 1009 + subject.length);
    for (let sent = 0; sent < runs; ) {
      for (const portion = Math.min(runs, sent + perBreath); sent < portion; sent++) hostile.publish(subject, make(draw));
      await hostile.flush();
      await answers();
    }
    gateway.checkProcesses();
  }

  /** Callers are served, their rows arrive, and the console answers. */
  async function allIsWell(): Promise<void> {
    await callers.untilServed('beta ok', 60_000);
    const reply = await callers.ask('alpha', 'gamma ok', { stream: false }).done;
    expect(reply.status).toBe(200);
    expect((await gateway.row(reply.id)).status).toBe(200);
    expect((await gateway.console('GET', '/models')).status).toBe(200);
    gateway.checkProcesses();
  }

  const askProperly = (subject: keyof typeof askShapes) =>
    buses.edge.ask(subject as 'catalog.revision', sampleAsks[subject].request as never).catch(() => undefined);
  const openProperly = (subject: keyof typeof openShapes): Promise<void> =>
    new Promise((resolve) => {
      const done = () => resolve();
      const call = buses[subject === 'script.run' ? 'translator' : 'edge'].open(
        subject as 'catalog.load',
        sampleOpens[subject].request as never,
        { head: () => undefined, data: (bytes) => call.consumed(bytes.length), tail: done, broken: done },
        { deadlineMs: 20_000 },
      );
      if (subject === 'console.http') {
        call.send(Buffer.from('GET /console/api/nothing HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'));
        call.endSend();
      }
    });

  test.each(Object.keys(askShapes) as (keyof typeof askShapes)[])(
    'questions: %s',
    async (subject) => {
      await send(
        `gw.v1.${subject}`,
        (draw) => hostileCall(draw, mine, sampleAsks[subject].request, true),
        () => askProperly(subject),
      );
      await allIsWell();
    },
    3_600_000,
  );

  test.each(Object.keys(openShapes) as (keyof typeof openShapes)[])(
    'openings: %s',
    async (subject) => {
      await send(
        `gw.v1.${subject}`,
        (draw) => hostileCall(draw, subject === 'script.run' ? mineAsTranslator : mine, sampleOpens[subject].request, false),
        () => openProperly(subject),
      );
      await allIsWell();
    },
    3_600_000,
  );

  test.each(Object.keys(eventShapes) as (keyof typeof eventShapes)[])(
    'news: %s',
    async (subject) => {
      await send(
        `gw.v1.${subject}`,
        (draw) => hostileEvent(draw, sampleEvent[subject]),
        () => askProperly('catalog.revision'),
      );
      await allIsWell();
    },
    3_600_000,
  );

  test('frames to every process, of streams that it has', async () => {
    await callers.ask('alpha', 'alpha ok', { stream: false }).done;
    await gateway.console('GET', '/models');
    await until(() => ['edge', 'router', 'translator', 'console'].every((name) => inboxes.has(name) || name === 'router'), 'inboxes to be known');
    for (const inbox of inboxes.values()) {
      let running = await callers.streams(4, ['alpha text:400+slow:20']);
      let others = [...inboxes.values()].filter((other) => other !== inbox);
      await send(
        frameSubject(inbox),
        (draw) => {
          const from = others[Math.floor(draw() * others.length)] ?? mine;
          return hostileFrame(draw, from, streams.get(inbox) ?? streams.get(from) ?? []);
        },
        async () => {
          streams.clear();
          running = running.filter((one) => one.endedAt === null);
          if (running.length < 4) running.push(callers.ask('alpha', 'alpha text:400+slow:20', { stream: true }));
          others = [...inboxes.values()].filter((other) => other !== inbox);
          await sleep(20);
        },
      );
      await Promise.all(running.map((one) => one.done));
      await allIsWell();
    }
  }, 3_600_000);
});
