/** A request body within its caps, and the budget of all bodies together. */
import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { BodyBudget, readBody } from '../src/http/read-body.ts';

type Incoming = Parameters<typeof readBody>[0];

/** Enough of an IncomingMessage: a readable with headers and `complete`. */
function incoming(headers: Record<string, string> = {}): PassThrough & { complete: boolean } {
  const stream = Object.assign(new PassThrough(), { headers, complete: false });
  stream.on('end', () => {
    stream.complete = true;
  });
  return stream;
}
const readAs = (accepts: Parameters<typeof readBody>[1]['accepts'], request: PassThrough, max = 100, budget = new BodyBudget(1000)) =>
  readBody(request as unknown as Incoming, { maxBytes: max, accepts }, budget);
const read = (request: PassThrough, max?: number, budget?: BodyBudget) => readAs('json', request, max, budget);
const outcome = (work: () => Promise<unknown>): Promise<unknown> =>
  Promise.resolve()
    .then(work)
    .catch((error: unknown) => error);

test('all bytes, in order, held against the budget until they are released once', async () => {
  const budget = new BodyBudget(1000);
  const request = incoming({ 'content-type': 'application/json' });
  const reading = read(request, 100, budget);
  request.write('{"a":');
  request.end('1}');
  const body = await reading;
  expect(body.bytes.toString()).toBe('{"a":1}');
  expect(budget.held).toBe(7);
  body.release();
  body.release();
  expect(budget.held).toBe(0);
});

test('bytes that come one by one are put together while they come', async () => {
  const joined: number[] = [];
  const { concat } = Buffer;
  Buffer.concat = (list, length) => {
    joined.push(list.length);
    return length === undefined ? concat(list) : concat(list, length);
  };
  try {
    const request = incoming();
    const reading = read(request, 10_000, new BodyBudget(10_000));
    for (let sent = 0; sent < 5000; sent++) request.emit('data', Buffer.of(0x20));
    request.end();
    expect((await reading).bytes.length).toBe(5000);
    expect(Math.max(...joined)).toBe(1024);
  } finally {
    Buffer.concat = concat;
  }
});

test('a body above the cap is refused while it is read, and its share of the budget goes back', async () => {
  const budget = new BodyBudget(1000);
  const request = incoming();
  const reading = read(request, 10, budget);
  request.write('123456');
  request.write('789012');
  expect(await outcome(() => reading)).toMatchObject({ code: 'payload_too_large', status: 413, message: 'The request body is larger than 10 bytes.' });
  expect(budget.held).toBe(0);
});

test('a body of exactly the cap passes', async () => {
  const request = incoming({ 'content-length': '10' });
  const reading = read(request, 10);
  request.end('1234567890');
  expect((await reading).bytes.length).toBe(10);
});

test('more bodies than the budget holds: 503, and the others keep theirs', async () => {
  const budget = new BodyBudget(10);
  const first = incoming();
  const reading = read(first, 100, budget);
  first.end('12345678');
  const held = await reading;
  const second = incoming();
  const refused = read(second, 100, budget);
  second.write('123');
  expect(await outcome(() => refused)).toMatchObject({ code: 'overloaded', status: 503 });
  expect(budget.held).toBe(8);
  held.release();
  expect(budget.held).toBe(0);
});

test('a caller who stops half-way gives everything back', async () => {
  const budget = new BodyBudget(1000);
  const request = incoming();
  const reading = read(request, 100, budget);
  request.write('123');
  await new Promise((resolve) => setImmediate(resolve));
  expect(budget.held).toBe(3);
  request.destroy();
  expect(await outcome(() => reading)).toMatchObject({ code: 'client_gone' });
  expect(budget.held).toBe(0);
});

test('a caller who has left before its body is read has left', async () => {
  const request = incoming();
  request.end('123');
  request.destroy();
  await new Promise((resolve) => request.once('close', resolve));
  expect(await outcome(() => read(request))).toMatchObject({ code: 'client_gone' });
});

test('an error after the last byte does not give the share back twice', async () => {
  const budget = new BodyBudget(1000);
  const request = incoming();
  const reading = read(request, 100, budget);
  request.end('123');
  const body = await reading;
  request.emit('error', new Error('late'));
  body.release();
  expect(budget.held).toBe(0);
});

describe('refused by its head, before a byte is read', () => {
  test.each([
    [{ 'content-length': '101' }, 'payload_too_large', 413],
    [{ 'content-encoding': 'gzip' }, 'unsupported_media_type', 415],
    [{ 'content-type': 'text/plain' }, 'unsupported_media_type', 415],
    [{ 'content-type': 'multipart/form-data; boundary=json' }, 'unsupported_media_type', 415],
  ] as [Record<string, string>, string, number][])('%j: %s', async (headers, code, status) => {
    const request = incoming(headers);
    expect(await outcome(() => read(request))).toMatchObject({ code, status });
    expect(request.listenerCount('data')).toBe(0);
  });

  test.each([{}, { 'content-type': 'application/json; charset=utf-8' }, { 'content-type': 'application/problem+json' }, { 'content-encoding': 'identity' }])(
    '%j is read',
    async (headers) => {
      const request = incoming(headers as Record<string, string>);
      const reading = read(request);
      request.end('{}');
      expect((await reading).bytes.toString()).toBe('{}');
    },
  );
});

test('of a body of any type the encoding is judged all the same, unless its bytes are nobody’s concern', async () => {
  expect(await outcome(() => readAs('any', incoming({ 'content-encoding': 'gzip' })))).toMatchObject({ code: 'unsupported_media_type', status: 415 });
  for (const [accepts, headers] of [
    ['any', { 'content-type': 'text/plain' }],
    ['raw', { 'content-encoding': 'gzip' }],
  ] as const) {
    const request = incoming(headers);
    const reading = readAs(accepts, request);
    request.end('words');
    expect((await reading).bytes.toString()).toBe('words');
  }
});

test('a long content type is judged in time that grows with its length alone', () => {
  const started = process.cpuUsage();
  for (const type of ['a'.repeat(300_000), `${'a'.repeat(150_000)}/${'a.'.repeat(75_000)}`, `json${' '.repeat(300_000)}x`])
    expect(() => read(incoming({ 'content-type': type }))).toThrow(expect.objectContaining({ status: 415 }));
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(5_000);
});

test('what was read of a refused body is let go of, though its caller lingers', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const request = incoming();
  const refused = read(request, 1000).catch((error: unknown) => error);
  const first = (() => {
    const bytes = Buffer.alloc(900);
    request.emit('data', bytes);
    return new WeakRef(bytes);
  })();
  request.emit('data', Buffer.alloc(200));
  expect(await refused).toMatchObject({ code: 'payload_too_large' });
  for (let i = 0; i < 100 && first.deref(); i++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  expect(first.deref()).toBeUndefined();
  // Still there, as a caller who goes on writing is.
  expect(request.listenerCount('end')).toBeGreaterThan(0);
});
