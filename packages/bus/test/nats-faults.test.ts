/** What only a real bus can suffer: a dead server, lost and forged frames, slow receivers. Dead peers: `nats-dead-peers`. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { frameKind } from '@model-gateway/contracts';
import { connect } from '@nats-io/transport-node';
import { openHeldConnection } from '../../../tests/support/held-connection.ts';
import { connectNatsBus, type ServerStream } from '../src/index.ts';
import { frameMark, readFrame, u32, writeFrame } from '../src/nats/frame.ts';
import type { NatsBus } from '../src/nats/nats-bus.ts';
import { frameSubject, mintInbox } from '../src/nats/subjects.ts';
import { connectRaw } from './raw-connection.ts';
import { busyMs, fastest, frozenFor, inPlace, nothingFor, openRecorded, pastWindow, pattern, quiet, row, until } from './support.ts';
import { ownServerAvailable, twoBuses } from './two-buses.ts';

(ownServerAvailable('bus faults over NATS') ? describe : describe.skip)('NATS bus under faults', () => {
  const stage = twoBuses();
  const { connectBus, serveLoad } = stage;
  let { server, near, far } = stage;
  beforeEach(() => {
    ({ server, near, far } = stage);
  });

  /** Drops the frames of the far side that `which` picks, as a cut-off subscriber would. */
  const dropFromFar = (which: (kind: number, seq: number) => boolean) => {
    const { link } = far as NatsBus;
    const publish = link.publish.bind(link);
    let dropped = 0;
    link.publish = (subject, payload, ...rest) => {
      const frame = readFrame(payload);
      if (frame && which(frame.kind, frame.seq)) {
        dropped++;
        return true;
      }
      return publish(subject, payload, ...rest);
    };
    return () => dropped;
  };

  test('the server is killed: streams and asks end promptly, new ones are refused at once, all is well after its return', async () => {
    const cancels: string[] = [];
    const settled: string[] = [];
    let questions = 0;
    far.serve({
      ask: {
        'catalog.revision': () => {
          questions++;
          return new Promise(() => {});
        },
      },
    });
    await serveLoad((body, stream) => {
      stream.onCancel((reason) => cancels.push(reason));
      stream.onSettled((how) => settled.push(how));
      stream.head({ revision: 1 });
      if (body[0] === 1) stream.tail({ bytes: 0 });
    });
    const changes: boolean[] = [];
    near.onConnection((connected) => changes.push(connected));
    const got = openRecorded(near, 'catalog.load', {}, { body: Uint8Array.of(0) });
    const done = openRecorded(near, 'catalog.load', {}, { body: Uint8Array.of(1) });
    await until(() => got.head !== null && done.tail !== null, 'both heads');
    const asked = near.ask('catalog.revision', {}, { deadlineMs: 20_000 });
    const askFailed = asked.catch((error) => error);
    await until(() => questions > 0, 'the question');

    const start = performance.now();
    await server.kill();
    await got.ended;
    await expect(askFailed).resolves.toMatchObject({ code: 'service_lost' });
    expect(got.error).toMatchObject({ code: 'service_lost' });
    await until(() => cancels.length === 1 && settled.length === 1, 'the callee knows');
    expect(performance.now() - start).toBeLessThan(3000 + busyMs);
    expect(settled).toEqual(['lost']);

    expect(near.connected).toBe(false);
    const refused = performance.now();
    await expect(near.ask('catalog.revision', {})).rejects.toMatchObject({ code: 'service_unavailable' });
    const late = openRecorded(near, 'catalog.load', {}, { body: pattern(3_000_000) });
    await late.ended;
    expect(late.error).toMatchObject({ code: 'service_unavailable' });
    expect(performance.now() - refused).toBeLessThan(300 + busyMs);
    near.publish('catalog.changed', { revision: 1, previous: 0 });

    await server.start();
    await until(() => near.connected && far.connected, 'both come back');
    await inPlace(far);
    const again = openRecorded(near, 'catalog.load', {}, { body: Uint8Array.of(1) });
    await again.ended;
    expect(again.tail).toEqual({ bytes: 0 });
    expect(changes).toEqual([false, true]);
    expect(near.stats()).toMatchObject({ openCalls: 0 });
  });

  test('a server that hangs (SIGSTOP) breaks streams within 3 s', async () => {
    await serveLoad((_body, stream) => stream.head({ revision: 1 }));
    const got = openRecorded(near, 'catalog.load', {});
    await until(() => got.head !== null, 'the head');
    // Longer than a pulse takes.
    await pastWindow(1200);
    await server.signal('SIGSTOP');
    const start = performance.now();
    await got.ended;
    await server.signal('SIGCONT');
    expect(got.error).toMatchObject({ code: 'service_lost' });
    expect(performance.now() - start).toBeLessThan(3400 + busyMs);
  });

  test('while the server hangs calls are refused within 2 s, then at once, and none of them is done later', async () => {
    const begun: string[] = [];
    far.serve({ ask: { 'catalog.revision': () => ({ revision: 1 }) } });
    await serveLoad((body, stream) => {
      begun.push(Buffer.from(body).toString());
      stream.whole({ revision: 1 }, body, { bytes: body.length });
    });
    await openRecorded(near, 'catalog.load', {}, { body: Buffer.from('before') }).ended;
    await server.signal('SIGSTOP');
    const start = performance.now();
    const opened = openRecorded(near, 'catalog.load', {}, { body: Buffer.from('during') });
    await expect(near.ask('catalog.revision', {})).rejects.toMatchObject({ status: 503 });
    await opened.ended;
    expect(performance.now() - start).toBeLessThan(2000 + busyMs / 5);
    expect(opened.error).toMatchObject({ code: 'service_lost' });
    expect(near.connected).toBe(false);
    const refused = performance.now();
    await expect(near.ask('catalog.revision', {})).rejects.toMatchObject({ code: 'service_unavailable' });
    const late = openRecorded(near, 'catalog.load', {}, { body: Buffer.from('late') });
    await late.ended;
    expect(late.error).toMatchObject({ code: 'service_unavailable' });
    expect(performance.now() - refused).toBeLessThan(200 + busyMs / 5);
    await server.signal('SIGCONT');
    await until(() => near.connected && far.connected, 'the server answers');
    await openRecorded(near, 'catalog.load', {}, { body: Buffer.from('after') }).ended;
    await until(() => far.stats().openServed === 0, 'nothing is left');
    expect(begun).toEqual(['before', 'after']);
  });

  /** A bus whose own connection can be held, and what the callee has begun for it. */
  async function openerThatCanBeHeld() {
    const { url, ...connection } = await openHeldConnection(server.url);
    const opener = await connectNatsBus({ url, name: 'opener', logger: quiet, drainMs: 200, ackWaitMs: 2000 });
    await until(() => opener.connected, 'the opener connects');
    const begun: string[] = [];
    await serveLoad((body, stream) => {
      begun.push(Buffer.from(body).toString());
      stream.whole({ revision: 1 }, body, { bytes: body.length });
    });
    return { opener, begun, ...connection };
  }

  test.each([
    ['shorter than anybody notices', 900],
    ['long', 1600],
  ])('an opening that the server reads late, after a silence that is %s, is not begun once it was given up', async (_which, ms) => {
    const { opener, begun, hold, release, close } = await openerThatCanBeHeld();
    await openRecorded(opener, 'catalog.load', {}, { body: Buffer.from('before') }).ended;
    await server.signal('SIGSTOP');
    hold();
    const given = openRecorded(opener, 'catalog.load', {}, { body: Buffer.from('during') });
    await frozenFor(ms);
    given.call.cancel('went elsewhere');
    await server.signal('SIGCONT');
    // The callee has its pings answered again meanwhile.
    await pastWindow(700);
    release();
    await until(() => opener.connected, 'the server answers');
    await openRecorded(opener, 'catalog.load', {}, { body: Buffer.from('after') }).ended;
    await until(() => far.stats().openServed === 0, 'nothing is left');
    expect(begun).toEqual(['before', 'after']);
    await opener.drain();
    close();
  });

  test.each([
    ['goes elsewhere', 800, 1],
    ['gives up', 1500, 0],
  ])("an opening that is held on its opener's own connection is not begun after its opener %s", async (_what, ms, times) => {
    const { opener, begun, hold, release, close } = await openerThatCanBeHeld();
    const open = (name: string) => openRecorded(opener, 'catalog.load', {}, { body: Buffer.from(name) });
    // One that finds the two strangers to each other, and one that finds them acquainted.
    hold();
    const first = open('first');
    await pastWindow(ms);
    release();
    await first.ended;
    await until(() => opener.connected, 'the server answers');
    await open('between').ended;
    hold();
    const second = open('second');
    await pastWindow(ms);
    release();
    await second.ended;
    await until(() => opener.connected, 'the server answers');
    await open('after').ended;
    await until(() => far.stats().openServed === 0, 'nothing is left');
    const expected = (name: string) => Array.from({ length: times }, () => name);
    expect(begun).toEqual([...expected('first'), 'between', ...expected('second'), 'after']);
    await opener.drain();
    close();
  });

  test('a callee above its credit is broken off', async () => {
    const { connection: raw } = await connectRaw(server.url, 'raw');
    const inbox = mintInbox('raw');
    let cancelled = '';
    raw.subscribe(`${inbox}.f`, {
      callback: (_error, { data }) => {
        const frame = readFrame(data);
        if (frame?.kind === frameKind.cancel) cancelled = Buffer.from(frame.payload).toString();
      },
    });
    raw.subscribe('gw.v1.catalog.load', {
      callback: (_error, { data }) => {
        const { number, salt, inbox: to } = readFrame(data)!;
        const send = (kind: number, seq: number, payload: Uint8Array) =>
          raw.publish(frameSubject(to), writeFrame({ kind, flags: 1, marks: 0, attempt: 0, number, salt, seq }, Buffer.from(inbox), [payload]));
        send(frameKind.head, 0, Buffer.from('{"revision":1}'));
        for (let seq = 1; seq <= 40; seq++) send(frameKind.data, seq, pattern(100_000));
      },
    });
    await raw.flush();
    const got = openRecorded(near, 'catalog.load', {}, { consume: false });
    await got.ended;
    expect(got.error).toMatchObject({ code: 'service_lost' });
    expect(got.bytes).toBeLessThanOrEqual(512 * 1024);
    await until(() => cancelled !== '', 'the cancel');
    await raw.close();
  });

  test('an opener above its credit is broken off, and bodies on their way share one cap', async () => {
    const small = await connectNatsBus({ url: server.url, name: 'small', logger: quiet, maxBodiesBytes: 1_000_000, drainMs: 200 });
    const received: number[] = [];
    small.serve({
      open: {
        'console.http': (_request, _body, stream) => void stream.head({}),
        'catalog.load': (_request, body, stream) => {
          received.push(body.length);
          stream.whole({ revision: 1 }, new Uint8Array(0), { bytes: 0 });
        },
      },
    });
    await until(() => small.connected, 'it connects');
    await inPlace(small);
    const { connection: raw } = await connectRaw(server.url, 'raw');
    const inbox = mintInbox('raw');
    const kinds: number[] = [];
    raw.subscribe(`${inbox}.f`, { callback: (_error, { data }) => void kinds.push(readFrame(data)!.kind) });
    const to = frameSubject((small as NatsBus).inbox);
    const send = (kind: number, salt: number, seq: number, payload: Uint8Array, marks: number = frameMark.toCallee) =>
      writeFrame({ kind, flags: 1, marks, attempt: 0, number: 1, salt, seq }, Buffer.from(inbox), [payload]);
    const openOf = (request: string, bodyBytes: number) => Buffer.concat([u32(60_000, request.length, bodyBytes), Buffer.from(request)]);
    // Bytes after the opening, which nobody consumes.
    raw.publish('gw.v1.console.http', send(frameKind.open, 1, 0, openOf('{"remoteAddress":""}', 0)));
    await until(() => kinds.includes(frameKind.head), 'the head');
    for (let seq = 0; seq < 20; seq++) raw.publish(to, send(frameKind.send, 1, seq, pattern(100_000)));
    await until(() => kinds.includes(frameKind.error), 'the end of the greedy stream');
    await until(() => small.stats().openServed === 0, 'nothing of it is left');
    // A body that is announced, begun and never finished.
    raw.publish('gw.v1.catalog.load', send(frameKind.open, 2, 0, openOf('{}', 200_000_000), frameMark.toCallee | frameMark.parcels));
    await until(() => small.stats().openServed === 1, 'the announcement');
    for (let seq = 0; seq < 8; seq++) raw.publish(to, send(frameKind.parcel, 2, seq, pattern(100_000)));
    await raw.flush();
    await inPlace(small);
    const refused = openRecorded(near, 'catalog.load', {}, { body: pattern(900_000) });
    await refused.ended;
    expect(refused.error).toMatchObject({ code: 'overloaded' });
    raw.publish(to, send(frameKind.cancel, 2, 0, Buffer.from('enough')));
    await until(() => small.stats().openServed === 0, 'the memory to be returned');
    const fine = openRecorded(near, 'catalog.load', {}, { body: pattern(900_000) });
    await fine.ended;
    expect(fine.error).toBeNull();
    expect(received).toEqual([900_000]);
    await raw.close();
    await small.drain();
  });

  test('a server that is away at the start is waited for', async () => {
    await server.kill();
    const start = performance.now();
    const early = await connectBus('early');
    expect(performance.now() - start).toBeLessThan(500 + busyMs);
    expect(early.connected).toBe(false);
    await expect(early.ask('catalog.revision', {})).rejects.toMatchObject({ code: 'service_unavailable' });
    early.serve({ ask: { 'catalog.revision': () => ({ revision: 9 }) } });
    await server.start();
    await until(() => early.connected && near.connected, 'they connect');
    await inPlace(early);
    await expect(near.ask('catalog.revision', {})).resolves.toEqual({ revision: 9 });
    await early.drain();
  });

  test('a bus that never connected can be closed', async () => {
    await server.kill();
    const lonely = await connectBus('lonely');
    const start = performance.now();
    await lonely.drain();
    expect(performance.now() - start).toBeLessThan(2500 + busyMs);
  });

  test('a slow receiver stops its sender at the window, and the server never sees a slow consumer', async () => {
    let sent = 0;
    await serveLoad((_body, stream) => {
      stream.head({ revision: 1 });
      const chunk = pattern(32 * 1024);
      const pump = () => {
        while (sent < 3000) {
          sent++;
          if (!stream.data(chunk)) return;
        }
      };
      stream.onWritable(pump);
      pump();
    });
    const slow = Array.from({ length: 20 }, () => openRecorded(near, 'catalog.load', {}, { consume: false, keep: false }));
    await until(() => slow.every((got) => got.bytes >= 256 * 1024), 'every window is full');
    await nothingFor(1000);
    expect(slow.every((got) => got.bytes === 256 * 1024)).toBe(true);
    expect(sent).toBe(20 * 8);
    const monitor = (await (await fetch(`${server.monitorUrl}/varz`)).json()) as { slow_consumers: number };
    expect(monitor.slow_consumers).toBe(0);
    for (const got of slow) got.call.cancel('enough');
  });

  test('quiet streams live on by the pulse alone', async () => {
    const settled: string[] = [];
    let stream: ServerStream<'catalog.load'> | null = null;
    await serveLoad((body, opened) => {
      if (body[0] === 1) {
        opened.onSettled((how) => settled.push(how));
        opened.whole({ revision: 1 }, pattern(3), { bytes: 3 });
      } else stream = opened;
    });
    const silent = openRecorded(near, 'catalog.load', {}, { body: Uint8Array.of(0) });
    const whole = openRecorded(near, 'catalog.load', {}, { body: Uint8Array.of(1) });
    await nothingFor(5500);
    expect(silent.order).toEqual([]);
    expect(settled).toEqual([]);
    whole.call.acknowledge();
    stream!.whole({ revision: 2 }, pattern(3), { bytes: 3 });
    await silent.ended;
    expect(silent.tail).toEqual({ bytes: 3 });
    await until(() => settled.length === 1, 'the acknowledgement');
    expect(settled).toEqual(['acknowledged']);
  });

  test('an unacknowledged tail alone is kept while its opener lives', async () => {
    const settled: string[] = [];
    await serveLoad((_body, stream) => {
      stream.onSettled((how) => settled.push(how));
      stream.whole({ revision: 1 }, pattern(3), { bytes: 3 });
    });
    const got = openRecorded(near, 'catalog.load', {});
    await got.ended;
    await nothingFor(4500);
    expect(settled).toEqual([]);
    got.call.acknowledge();
    await until(() => settled.length === 1, 'the acknowledgement');
    expect(settled).toEqual(['acknowledged']);
  });

  describe('lost frames', () => {
    test('a lost data frame is a gap: broken at once', async () => {
      await serveLoad((_body, stream) => {
        stream.head({ revision: 1 });
        for (let i = 0; i < 3; i++) setTimeout(() => stream.data(pattern(10)), 20 * i + 10);
      });
      dropFromFar((kind, seq) => kind === frameKind.data && seq === 2);
      const ms = await fastest(500, async () => {
        const got = openRecorded(near, 'catalog.load', {});
        await got.ended;
        expect(got.error).toMatchObject({ code: 'service_lost' });
        expect(got.order).toEqual(['head', 'data', 'broken']);
      });
      expect(ms).toBeLessThan(500);
    });

    test('a lost tail, with nothing after it, is found by the pulse although another stream lives', async () => {
      await serveLoad((body, stream) => {
        stream.head({ revision: 1 });
        if (body[0] === 1) setTimeout(() => stream.tail({ bytes: 0 }), 50);
      });
      const dropped = dropFromFar((kind) => kind === frameKind.tail);
      const other = openRecorded(near, 'catalog.load', {}, { body: Uint8Array.of(0) });
      const got = openRecorded(near, 'catalog.load', {}, { body: Uint8Array.of(1) });
      const start = performance.now();
      await got.ended;
      expect(dropped()).toBe(1);
      expect(got.error).toMatchObject({ code: 'service_lost' });
      expect(performance.now() - start).toBeLessThan(3000 + busyMs);
      expect(other.error).toBeNull();
      other.call.cancel('done');
    });

    test('a lost last frame of a stream that goes quiet is found by the pulse', async () => {
      await serveLoad((_body, stream) => {
        stream.head({ revision: 1 });
        setTimeout(() => stream.data(pattern(10)), 50);
      });
      dropFromFar((kind) => kind === frameKind.data);
      const got = openRecorded(near, 'catalog.load', {});
      const start = performance.now();
      await got.ended;
      expect(got.error).toMatchObject({ code: 'service_lost' });
      expect(performance.now() - start).toBeLessThan(2500 + busyMs);
    });

    test('a lost whole reply is noticed within 3 s', async () => {
      await serveLoad((_body, stream) => stream.whole({ revision: 1 }, pattern(10), { bytes: 10 }));
      dropFromFar((kind) => kind === frameKind.whole);
      const got = openRecorded(near, 'catalog.load', {});
      const start = performance.now();
      await got.ended;
      expect(got.error).toMatchObject({ code: 'service_lost' });
      expect(performance.now() - start).toBeLessThan(3500 + busyMs);
    });
  });

  test('forged, late and malformed frames change nothing and are counted', async () => {
    let stream: ServerStream<'catalog.load'> | null = null;
    await serveLoad((_body, opened) => {
      stream = opened;
      opened.dropBefore(2);
      opened.head({ revision: 1 });
    });
    const got = openRecorded(near, 'catalog.load', {});
    await until(() => got.head !== null, 'the head');
    const forger = await connect({ servers: server.url });
    const to = frameSubject((near as NatsBus).inbox);
    const farInbox = frameSubject((far as NatsBus).inbox);
    const key = Number.parseInt(got.call.id, 36);
    const real = { number: Math.floor(key / 2 ** 21), salt: key % 2 ** 21 };
    const base = { kind: frameKind.data, flags: 1, marks: 0, attempt: 2, seq: 1, ...real };
    const mine = Buffer.from(mintInbox('forger'));
    const frames: [string, Uint8Array][] = [
      [to, writeFrame({ ...base, attempt: 1 }, undefined, [pattern(9)])],
      [to, writeFrame({ ...base, salt: (real.salt + 1) % 2 ** 21 }, undefined, [pattern(9)])],
      [to, writeFrame({ ...base, number: real.number + 1 }, undefined, [pattern(9)])],
      [to, writeFrame({ ...base, seq: 0 }, undefined, [pattern(9)])],
      [to, writeFrame(base, mine, [pattern(9)])],
      [farInbox, writeFrame({ ...base, kind: frameKind.cancel, marks: frameMark.toCallee, seq: 0 }, mine)],
      [to, Buffer.from([9, 9, 9])],
      [to, Buffer.alloc(0)],
      [to, Buffer.from('{"stream":"gw_news","seq":1}')],
    ];
    for (const [subject, frame] of frames) forger.publish(subject, frame);
    forger.publish('gw.v1.catalog.load', Buffer.from('not a frame'));
    forger.publish('gw.v1.catalog.load', writeFrame({ ...base, kind: frameKind.open, number: 5, seq: 0 }, Buffer.from('gw.v1.stats.request')));
    // Unknown kinds belong to a neighbouring version.
    forger.publish(to, writeFrame({ ...base, kind: 99 }));
    await forger.flush();
    await until(() => near.stats().fencedFrames >= 8 && far.stats().fencedFrames >= 3, 'all have arrived');
    await nothingFor(100);
    expect(got.order).toEqual(['head']);
    expect(near.stats().fencedFrames).toBe(8);
    expect(far.stats().fencedFrames).toBe(3);
    stream!.data(pattern(4));
    stream!.tail({ bytes: 4 });
    await got.ended;
    expect(got.order).toEqual(['head', 'data', 'tail']);
    await forger.close();
  });

  test('a body above the callee limit is refused, and the connection survives', async () => {
    const small = await connectNatsBus({ url: server.url, name: 'small', logger: quiet, maxBodyBytes: 1000, drainMs: 200 });
    small.serve({ open: { 'console.http': (_request, _body, stream) => stream.whole({}, pattern(1), {}) } });
    await until(() => small.connected, 'it connects');
    await inPlace(small);
    const refused = openRecorded(near, 'console.http', { remoteAddress: '' }, { body: pattern(2_000_000) });
    await refused.ended;
    expect(refused.error).toMatchObject({ code: 'payload_too_large' });
    const fine = openRecorded(near, 'console.http', { remoteAddress: '' }, { body: pattern(100) });
    await fine.ended;
    expect(fine.error).toBeNull();
    await small.drain();
  });

  test('rows of a size that no message holds are refused, not lost', async () => {
    await expect(near.publishDurable('stats.request', 'big', row('x'.repeat(2_000_000)))).rejects.toMatchObject({ code: 'payload_too_large' });
  });
});
