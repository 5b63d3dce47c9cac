/** Calls on stored turns: who is asked, what is passed on, and what a caller sees of refusals. */
import { afterEach, expect, test } from '@jest/globals';
import type { ServerStream } from '@model-gateway/bus';
import type { TurnsCall } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { bearer, callers, type Stage, startEdge, until } from './support.ts';

type Stream = ServerStream<'translator.turns'>;
const [one] = callers;
const running: Stage[] = [];
afterEach(async () => {
  for (const stage of running.splice(0)) await stage.stop();
});

async function stage(answer: (call: TurnsCall, body: Uint8Array, stream: Stream) => void): Promise<Stage & { calls: TurnsCall[] }> {
  const calls: TurnsCall[] = [];
  const started = await startEdge(
    {
      turns(call, body, stream) {
        calls.push(call);
        answer(call, body, stream);
      },
    },
    { maxBodyBytes: 2048 },
  );
  running.push(started);
  return Object.assign(started, { calls });
}

const ok = (_call: TurnsCall, body: Uint8Array, stream: Stream): void =>
  stream.whole({ status: 200, headers: { 'content-type': 'application/json' } }, Buffer.from(JSON.stringify({ got: Buffer.from(body).toString() })), {});

test('the translator learns owner, action, ids and query, and never a credential', async () => {
  const { url, calls, rows } = await stage(ok);
  const reply = await fetch(`${url}/v1/responses/resp_1/input_items?limit=2&key=${one.key}`, { headers: { ...bearer(one), 'z-request-id': 'mine' } });
  expect(reply.status).toBe(200);
  expect(await reply.json()).toEqual({ got: '' });
  expect(reply.headers.get('x-request-id')).toBe(calls[0]?.id);
  expect(calls).toMatchObject([
    {
      owner: one.id,
      accessKey: one.id,
      keyGroup: 'g',
      clientProtocol: 'alpha_response',
      action: 'input-items',
      target: 'resp_1',
      query: 'limit=2',
      clientRequestId: 'mine',
    },
  ]);
  expect(JSON.stringify(calls)).not.toContain(one.key);
  expect(rows).toEqual([]);
});

test('a body goes along, within its cap', async () => {
  const { url, calls } = await stage(ok);
  const post = (text: string | Uint8Array<ArrayBuffer>, type = 'application/json') =>
    fetch(`${url}/v1/conversations`, { method: 'POST', headers: { ...bearer(one), 'content-type': type }, body: text });
  expect(await (await post('{"metadata":{}}')).json()).toEqual({ got: '{"metadata":{}}' });
  expect((await post(`{"x":"${'a'.repeat(3000)}"}`)).status).toBe(413);
  expect((await post('a=b', 'application/x-www-form-urlencoded')).status).toBe(415);
  const broken = await post(Uint8Array.from(Buffer.from('{"metadata":{"a":"\xff"}}', 'latin1')));
  expect([broken.status, await broken.json()]).toEqual([400, { error: expect.objectContaining({ message: 'The request body is not valid UTF-8.' }) }]);
  const cancel = await fetch(`${url}/v1/responses/r/cancel`, { method: 'POST', headers: bearer(one) });
  expect(cancel.status).toBe(200);
  expect(calls.map(({ action }) => action)).toEqual(['create-conversation', 'cancel']);
});

test('refusals have the shape of the protocol, before and after the translator', async () => {
  const { url, calls } = await stage((_call, _body, stream) => stream.fail(new GatewayError('not_found', { message: 'Response with id r not found.' })));
  const refused = async (init: RequestInit, path = '/v1/responses/r') => {
    const reply = await fetch(`${url}${path}`, init);
    return { status: reply.status, allow: reply.headers.get('allow'), body: (await reply.json()) as { error?: { message?: string } } };
  };
  expect(await refused({})).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } });
  expect(calls).toEqual([]);
  expect(await refused({ headers: bearer(one) })).toMatchObject({ status: 404, body: { error: { message: 'Response with id r not found.' } } });
  expect(await refused({ method: 'PUT', headers: bearer(one) })).toMatchObject({ status: 405, allow: 'GET, HEAD, DELETE' });
  expect(await refused({ headers: bearer(one) }, '/v1/responses/r/x/y')).toMatchObject({ status: 404 });
  const head = await fetch(`${url}/v1/responses/r`, { method: 'HEAD', headers: bearer(one) });
  expect([head.status, await head.text()]).toEqual([404, '']);
});

test('a long answer waits for its reader, and one that breaks off is no whole answer', async () => {
  let stream: Stream | undefined;
  let cancelled = '';
  const { url } = await stage((_call, _body, given) => {
    stream = given;
    given.onCancel((reason) => {
      cancelled = reason;
    });
    given.head({ status: 200, headers: { 'content-type': 'application/json' } });
    const piece = Buffer.alloc(64 * 1024, 'a');
    let writable = true;
    for (let sent = 0; writable && sent < 1000; sent++) writable = given.data(piece);
    expect(writable).toBe(false);
  });
  const left = new AbortController();
  const reply = await fetch(`${url}/v1/responses/r`, { headers: bearer(one), signal: left.signal });
  left.abort();
  await until(() => cancelled === 'client gone', 'the translator hears that its caller left');
  await expect(reply.text()).rejects.toThrow();

  const broken = fetch(`${url}/v1/responses/r`, { headers: bearer(one) }).then((again) => again.text());
  const before = stream;
  await until(() => stream !== before, 'the second call');
  stream?.fail(new GatewayError('service_lost'));
  await expect(broken).rejects.toThrow();
});
