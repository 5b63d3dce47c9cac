/** A process of an earlier version against one of this: frames as they were written before this version added to them, for every subject, both ways. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { askShapes, eventShapes, frameKind, openShapes } from '@model-gateway/contracts';
import { sampleAsks, sampleEvent, sampleOpens } from '../../../tests/support/bus-samples.ts';
import { type NatsServer, natsAvailable, startNatsServer } from '../../../tests/support/nats-server.ts';
import { type Bus, connectNatsBus } from '../src/index.ts';
import { type Frame, type FrameHeader, frameMark, readFrame, u32, writeFrame } from '../src/nats/frame.ts';
import { frameSubject, mintInbox } from '../src/nats/subjects.ts';
import { connectRaw, type RawConnection } from './raw-connection.ts';
import { inPlace, openRecorded, quiet, until } from './support.ts';

const inbox = mintInbox('old');
const id = { number: 77, salt: 5 };
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
/** The byte in which a frame says what its sender understands was always 0. */
function oldFrame(header: Partial<FrameHeader>, parts: Uint8Array[], from: string | undefined = inbox): Buffer {
  const frame = writeFrame({ kind: 0, flags: 0, marks: 0, attempt: 0, seq: 0, ...id, ...header }, from === undefined ? undefined : Buffer.from(from), parts);
  frame[7] = 0;
  return frame;
}

const available = natsAvailable('bus versions');
(available ? describe : describe.skip)('a neighbouring version', () => {
  let server: NatsServer;
  let bus: Bus;
  let old: RawConnection['connection'];
  let got: Frame[] = [];

  beforeAll(async () => {
    server = await startNatsServer();
  });
  afterAll(async () => {
    await server.dispose();
  });
  beforeEach(async () => {
    bus = await connectNatsBus({ url: server.url, name: 'now', logger: quiet, drainMs: 200 });
    old = (await connectRaw(server.url, 'old')).connection;
    got = [];
    old.subscribe(`${inbox}.*`, { callback: (_error, { data }) => void got.push(readFrame(data)!) });
    await until(() => bus.connected, 'the bus');
  });
  afterEach(async () => {
    await old.close();
    await bus.drain();
  });
  const answer = () => got.find(({ kind }) => kind === frameKind.tail || kind === frameKind.whole || kind === frameKind.error);

  test.each(Object.keys(askShapes) as (keyof typeof askShapes)[])('asks %s', async (subject) => {
    const asked: unknown[] = [];
    const answering = (request: unknown) => {
      asked.push(request);
      return sampleAsks[subject].reply;
    };
    bus.serve({ ask: { [subject]: answering } });
    await inPlace(bus);
    const request = { ...sampleAsks[subject].request, from_another_version: 1 };
    old.publish(`gw.v1.${subject}`, oldFrame({ kind: frameKind.open, marks: frameMark.toCallee | frameMark.ask }, [u32(5000), json(request)]));
    await until(() => answer() !== undefined, 'the answer');
    expect(asked).toEqual([request]);
    expect(answer()).toMatchObject({ kind: frameKind.tail, marks: frameMark.ask, ...id, seq: 0 });
    expect(JSON.parse(Buffer.from(answer()!.payload).toString())).toEqual(sampleAsks[subject].reply);
  });

  test.each(Object.keys(askShapes) as (keyof typeof askShapes)[])('answers %s', async (subject) => {
    const reply = { ...sampleAsks[subject].reply, from_another_version: 1 };
    old.subscribe(`gw.v1.${subject}`, {
      queue: 'gw',
      callback: (_error, { data }) => {
        const { number, salt, inbox: to } = readFrame(data)!;
        old.publish(frameSubject(to), oldFrame({ kind: frameKind.tail, marks: frameMark.ask, number, salt }, [json(reply)], undefined));
      },
    });
    await old.flush();
    await expect(bus.ask(subject as 'catalog.revision', sampleAsks[subject].request as never)).resolves.toEqual(reply);
  });

  test.each(Object.keys(openShapes) as (keyof typeof openShapes)[])('opens %s: it is begun unasked, since it could not answer', async (subject) => {
    const { head, tail } = sampleOpens[subject];
    bus.serve({ open: { [subject]: (_request: unknown, body: Uint8Array, stream: { whole(...args: unknown[]): void }) => stream.whole(head, body, tail) } });
    await inPlace(bus);
    const request = json({ ...sampleOpens[subject].request, from_another_version: 1 });
    old.publish(`gw.v1.${subject}`, oldFrame({ kind: frameKind.open, marks: frameMark.toCallee }, [u32(5000, request.length, 3), request, Buffer.from('abc')]));
    await until(() => answer() !== undefined, 'the reply');
    const { payload, kind } = answer()!;
    const unit = Buffer.from(payload);
    const headBytes = unit.readUInt32LE(0);
    const tailBytes = unit.readUInt32LE(4);
    expect(kind).toBe(frameKind.whole);
    expect(JSON.parse(unit.toString('utf8', 8, 8 + headBytes))).toEqual(head);
    expect(JSON.parse(unit.toString('utf8', 8 + headBytes, 8 + headBytes + tailBytes))).toEqual(tail);
    expect(unit.toString('utf8', 8 + headBytes + tailBytes)).toBe('abc');
  });

  test.each(Object.keys(openShapes) as (keyof typeof openShapes)[])('serves %s', async (subject) => {
    const { request, head, tail } = sampleOpens[subject];
    old.subscribe(`gw.v1.${subject}`, {
      queue: 'gw',
      callback: (_error, { data }) => {
        const { number, salt, inbox: to } = readFrame(data)!;
        const parts = [u32(json(head).length, json(tail).length), json(head), json(tail), Buffer.from('abc')];
        old.publish(frameSubject(to), oldFrame({ kind: frameKind.accept, number, salt }, []));
        // Kinds that only a later version knows are left aside.
        old.publish(frameSubject(to), oldFrame({ kind: 200, number, salt }, [Buffer.from('?')], undefined));
        old.publish(frameSubject(to), oldFrame({ kind: frameKind.whole, flags: 1, number, salt }, parts, undefined));
      },
    });
    await old.flush();
    const opened = openRecorded(bus, subject, request);
    await opened.ended;
    expect(opened.error).toBeNull();
    expect([opened.head, Buffer.concat(opened.chunks).toString(), opened.tail]).toEqual([head, 'abc', tail]);
  });

  test.each(Object.keys(eventShapes) as (keyof typeof eventShapes)[])('tells %s', async (subject) => {
    const event: unknown[] = [];
    bus.listen(subject, (one) => void event.push(one));
    await inPlace(bus);
    const described = { ...sampleEvent[subject], from_another_version: { x: 1 } };
    old.publish(`gw.v1.${subject}`, json(described));
    await until(() => event.length === 1, 'the event');
    expect(event).toEqual([described]);
  });
});
