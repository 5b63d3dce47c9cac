import { describe, expect, test } from '@jest/globals';
import { BodyCapture, type CapturedBodies } from './body-capture.ts';
import { describeRequest, isText } from './describe-body.ts';

const read = (bytes: Buffer, contentType: string, limit = 10_000) => {
  const described = describeRequest({ bytes, headers: { 'content-type': contentType } }, limit);
  return { text: described.bytes.toString('utf8'), whole: described.whole };
};
async function form(fill: (form: FormData) => void): Promise<readonly [Buffer, string]> {
  const sent = new FormData();
  fill(sent);
  const encoded = new Response(sent);
  return [Buffer.from(await encoded.arrayBuffer()), encoded.headers.get('content-type') ?? ''];
}
const sound = Buffer.alloc(100_000, 0xfe);

describe('a form', () => {
  test('is its fields, and of its files name, type and size', async () => {
    const [bytes, type] = await form((sent) => {
      sent.append('model', 'ears');
      sent.append('include[]', 'logprobs');
      sent.append('include[]', 'usage');
      sent.append('file', new Blob([sound], { type: 'audio/mp4' }), 'übung 1.m4a');
      sent.append('__proto__', 'x');
    });
    const { text, whole } = read(bytes, type);
    expect(whole).toBe(true);
    expect(text).toBe(
      '{"model":"ears","include[]":["logprobs","usage"],"file":{"filename":"übung 1.m4a","content_type":"audio/mp4","bytes":100000},"__proto__":"x"}',
    );
  });

  test('keeps what stands behind a long field of base64', async () => {
    const [bytes, type] = await form((sent) => {
      sent.append('reference', `data:audio/wav;base64,${sound.toString('base64')}`);
      sent.append('model', 'ears');
    });
    expect(read(bytes, type, 1_000)).toEqual({ text: '{"reference":"data:audio/wav;base64,[base64: 133336 characters]","model":"ears"}', whole: true });
  });

  test('is cut at its limit, over all fields together', async () => {
    const [bytes, type] = await form((sent) => {
      for (let index = 0; index < 90; index++) sent.append(`field ${index}`, 'word '.repeat(20_000));
    });
    const { text, whole } = read(bytes, type, 1_000);
    expect([text.length, whole, text.startsWith('{"field 0":"word word ')]).toEqual([1_000, false, true]);
  });

  test('that cannot be read is its type, its size and why', () => {
    const type = 'multipart/form-data; boundary=b';
    const { text } = read(Buffer.concat([Buffer.from('--b\r\n'), sound]), type);
    expect(JSON.parse(text)).toEqual({ content_type: type, bytes: sound.length + 5, error: expect.any(String) });
  });
});

test('text is text by its type; what is encoded is none', () => {
  const types = ['application/json; charset=utf-8', 'application/vnd.api+json', 'text/event-stream', 'TEXT/plain', 'image/svg+xml', 'application/x-ndjson'];
  for (const type of types) expect([type, isText({ 'content-type': type })]).toEqual([type, true]);
  for (const type of ['audio/mpeg', 'image/png', 'application/octet-stream', '', 'audio/json-like'])
    expect([type, isText({ 'content-type': type })]).toEqual([type, false]);
  expect(isText({})).toBe(true);
  expect(isText({ 'content-type': 'application/json', 'content-encoding': 'gzip' })).toBe(false);
});

describe('captured', () => {
  const captured = (fill: (capture: BodyCapture) => void, headers = {}, bytes = Buffer.from('{}')): CapturedBodies & { texts: string[] } => {
    const holder = { take: () => true, give: () => {} };
    const capture = new BodyCapture({ enabled: true, max_bytes: 1_024, ttl_hours: 1 }, { path: '/', bytes, headers }, [], holder);
    fill(capture);
    const bodies = capture.finish()!;
    const { request, response } = bodies;
    return { ...bodies, texts: [bodies.bytes.toString('utf8', 0, request.sent), bodies.bytes.toString('utf8', request.sent, request.sent + response.sent)] };
  };

  test('a reply of bytes is its type and size, in pieces and at once', () => {
    const head = { 'content-type': 'audio/mpeg' };
    const streamed = captured((capture) => {
      capture.head(head);
      for (let at = 0; at < 10; at++) capture.add(sound);
    });
    const whole = captured((capture) => {
      capture.head(head);
      capture.addWhole(sound);
    });
    expect(streamed.texts).toEqual(['{}', '{"content_type":"audio/mpeg","bytes":1000000}']);
    expect(streamed.response).toMatchObject({ size: 1_000_000, whole: true });
    expect(whole.texts[1]).toBe('{"content_type":"audio/mpeg","bytes":100000}');
    expect(whole.bytes.includes(sound.subarray(0, 100))).toBe(false);
  });

  test('a request of bytes too', () => {
    const bodies = captured(() => {}, { 'content-type': 'application/octet-stream' }, sound);
    expect(bodies.texts[0]).toBe('{"content_type":"application/octet-stream","bytes":100000}');
    expect(bodies.request).toMatchObject({ size: 100_000, whole: true });
  });

  test('events and errors are text as ever', () => {
    const bodies = captured((capture) => {
      capture.head({ 'content-type': 'text/event-stream' });
      capture.add(Buffer.from('data: {}\n\n'));
    });
    expect(bodies.texts[1]).toBe('data: {}\n\n');
  });
});
