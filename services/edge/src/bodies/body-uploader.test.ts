/** Bodies on their way to statistics: held within a budget, sent a few at a time, dropped and counted when nobody takes them. */
import { describe, expect, test } from '@jest/globals';
import { createMemoryBus } from '@model-gateway/bus';
import { type BodiesToKeep, bodyLookAhead } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { createLogger, createMetrics } from '@model-gateway/telemetry';
import { BodyCapture } from './body-capture.ts';
import { BodyUploader } from './body-uploader.ts';

const facts = {
  id: 'r1',
  startedAt: 1,
  accessKey: 'ada',
  keyGroup: 'team',
  model: 'fast',
  clientProtocol: 'alpha',
  stream: true,
  status: 200,
} as const;
const settings = { enabled: true, max_bytes: 1_024, ttl_hours: 1 };

function setUp(budgetBytes = 1_000_000) {
  const lines: string[] = [];
  const logger = createLogger({ level: 'warn', name: 'test', destination: { write: (line) => void lines.push(line) } });
  const metrics = createMetrics({ service: 'test' });
  const bus = createMemoryBus({ strict: true });
  const desk = new BodyUploader({ bus, logger, metrics, budgetBytes });
  const kept: { facts: BodiesToKeep; request: string; response: string }[] = [];
  const keep = (answer: (index: number) => GatewayError | null | Promise<null>) =>
    bus.serve({
      open: {
        'stats.keep-bodies': async (described, bytes, stream) => {
          const text = Buffer.from(bytes).toString();
          const index = kept.push({ facts: described, request: text.slice(0, described.request.sent), response: text.slice(described.request.sent) }) - 1;
          const error = await answer(index);
          if (error) stream.fail(error);
          else stream.tail({});
        },
      },
    });
  const capture = (request: string, secrets: string[] = [], path = '/v1/x') =>
    new BodyCapture(settings, { path, bytes: Buffer.from(request), headers: {} }, secrets, desk);
  const held = async () => /gateway_bodies_held_bytes\{[^}]*\} (\d+)/.exec(await metrics.text())?.[1];
  const dropped = async () =>
    [...(await metrics.text()).matchAll(/gateway_bodies_dropped_total\{[^}]*reason="(\w+)"[^}]*\} (\d+)/g)].map(([, reason, count]) => [reason, Number(count)]);
  return { desk, keep, kept, capture, held, dropped, lines };
}

describe('the desk', () => {
  test('sends both bodies with their metadata, and releases their bytes', async () => {
    const { desk, keep, kept, capture, held } = setUp();
    keep(() => null);
    const one = capture('{"q":1}', ['the-callers-key'], '/v1/x?key=the-callers-key');
    one.add(Buffer.from('data: the-call'));
    one.add(Buffer.from('ers-key\n\n'));
    desk.hand(one, () => facts);
    await desk.flushed(20_000);
    expect(kept).toEqual([
      {
        facts: {
          ...facts,
          path: '/v1/x?key=[redacted]',
          maxBytes: 1_024,
          ttlHours: 1,
          request: { size: 7, sent: 7, whole: true },
          response: { size: 23, sent: 18, whole: true },
        },
        request: '{"q":1}',
        response: 'data: [redacted]\n\n',
      },
    ]);
    expect(await held()).toBe('0');
  });

  test('what is too long is sent as far as the cap and the look-ahead go', async () => {
    const { desk, keep, kept, capture } = setUp();
    keep(() => null);
    const long = 'x y '.repeat(20_000);
    const streamed = capture(long);
    for (let at = 0; at < long.length; at += 1_000) streamed.add(Buffer.from(long.slice(at, at + 1_000)));
    const whole = capture(long);
    whole.addWhole(Buffer.from(`"${'A'.repeat(500_000)}" ${long}`));
    for (const one of [streamed, whole]) desk.hand(one, () => facts);
    await desk.flushed(20_000);
    const limit = 1_024 + bodyLookAhead;
    for (const { facts: described } of kept) expect(described.request).toEqual({ size: long.length, sent: limit, whole: false });
    expect(kept[0]!.facts.response).toEqual({ size: long.length, sent: limit, whole: false });
    expect(kept[1]!.facts.response).toEqual({ size: long.length + 500_003, sent: limit, whole: false });
    expect(kept[1]!.response.startsWith('"[base64: 500000 characters]" x y')).toBe(true);
  });

  test('limits concurrent uploads, and drops bodies beyond the byte budget', async () => {
    const { desk, keep, kept, capture, dropped, held } = setUp(10_000);
    let release: (nothing: null) => void = () => {};
    const slow = new Promise<null>((resolve) => {
      release = resolve;
    });
    keep(() => slow);
    for (let index = 0; index < 30; index++) {
      const one = capture('q '.repeat(300));
      one.add(Buffer.from('a '.repeat(300)));
      desk.hand(one, () => ({ ...facts, id: `r${index}` }));
    }
    for (const end = Date.now() + 20_000; kept.length < 2 && Date.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 5));
    // More than may be under way would follow in the next turns.
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(kept).toHaveLength(2);
    expect(Number(await held())).toBeLessThanOrEqual(10_000);
    release(null);
    await desk.flushed(20_000);
    expect(kept).toHaveLength(8);
    expect(await dropped()).toEqual([['no_room', 22]]);
    expect(await held()).toBe('0');
  });

  test('a response that exceeds the byte budget half-way is dropped whole', async () => {
    const { desk, keep, kept, capture, dropped, held } = setUp(100);
    keep(() => null);
    const one = capture('q');
    one.add(Buffer.alloc(90, 'a'));
    one.add(Buffer.alloc(20, 'a'));
    expect(await held()).toBe('0');
    one.add(Buffer.alloc(5, 'a'));
    desk.hand(one, () => facts);
    await desk.flushed(20_000);
    expect([kept, await dropped(), await held()]).toEqual([[], [['no_room', 1]], '0']);
  });

  test('what nobody takes, or what is refused, is counted and said once', async () => {
    const { desk, keep, capture, dropped, held, lines } = setUp();
    const hand = async () => {
      desk.hand(capture('q'), () => facts);
      await desk.flushed(20_000);
    };
    await hand();
    await hand();
    keep((index) => (index === 0 ? null : new GatewayError('overloaded')));
    await hand();
    await hand();
    expect(await dropped()).toEqual([
      ['service_unavailable', 2],
      ['overloaded', 1],
    ]);
    expect(lines.filter((line) => line.includes('cannot be stored'))).toHaveLength(2);
    expect(await held()).toBe('0');
  });
});
