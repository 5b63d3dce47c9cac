/** Bodies of groups that keep them, through real processes: what is stored, what never is, who may read it, and that nobody waits for it. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { WebSocket } from 'ws';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { AnsweringServer, answerJson } from '../support/answering-server.ts';
import { scriptedModels } from '../support/callers.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';

const keptKey = mintAccessKey();
/** Of no form that betrays it: only who was called with it can know. */
const importedKey = 'Zwiebelkuchen+mit+Speck+und+Rahm';
const upstreamKey = 'Apfelstrudel.mit.Vanillesauce';
const image = Buffer.from('no image at all, but long. '.repeat(2_000)).toString('base64');

describe.each(arrangements('stored bodies'))('stored bodies, %s', (arrangement) => {
  let upstream: FakeUpstream;
  const media = new AnsweringServer();
  let gateway: TestGateway;
  let monitor: string;

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    await media.start();
    gateway = await startGateway({ arrangement });
    const models = scriptedModels(upstream.url, ['ok', 'text:40', 'big:200000', 'err:400', 'slow:30+text:100']);
    await gateway.configure({
      ...models,
      upstreams: [
        ...models.upstreams!.map((one) => ({ ...one, api_keys: [{ key: upstreamKey }] })),
        { name: 'sound', protocol: 'alpha_audio', base_url: media.address, api_keys: [{ key: upstreamKey }] },
      ],
      models: [...models.models!, { name: 'voice', upstream: 'sound', upstream_model_id: 'voice' }],
      key_groups: [{ name: 'kept', models: ['*'], store_bodies: { enabled: true, max_bytes: 4_096, ttl_hours: 2 } }],
      access_keys: [
        { name: 'kept', group: 'kept', key: keptKey },
        { name: 'imported', group: 'kept', key: importedKey },
      ],
    });
    const made = await gateway.console('POST', '/users', { username: 'looker', role: 'monitor', password: 'looks-on-only-1' });
    expect(made.status).toBe(201);
    const login = await gateway.console('POST', '/login', { username: 'looker', password: 'looks-on-only-1' });
    monitor = login.body.token;
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream?.close();
    media.stop();
  });

  const ask = async (
    model: string,
    content: unknown,
    { key = keptKey, more = {}, path = '/v1/chat/completions' }: { key?: string; more?: object; path?: string } = {},
  ) => {
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content }], ...more }),
    });
    return { id: response.headers.get('x-request-id')!, text: await response.text(), status: response.status };
  };
  const read = (id: string) => gateway.console('GET', `/logs/${id}/bodies`);
  const stored = async (id: string) => {
    await until(async () => (await read(id)).status === 200, `bodies of ${id}`);
    return (await read(id)).body;
  };

  test('both are kept as they were, with their row and their end', async () => {
    const { id, text } = await ask('alpha ok', 'Bonjour, 世界 😀');
    const bodies = await stored(id);
    const row = await gateway.row(id);
    expect(bodies).toMatchObject({
      id,
      started_at: row.started_at,
      expires_at: row.started_at + 2 * 3_600_000,
      access_key: 'kept',
      key_group: 'kept',
      model: 'alpha ok',
      client_protocol: 'alpha',
      path: '/v1/chat/completions',
      stream: false,
      status: 200,
      request: { bytes: row.request_bytes, truncated: false },
      response: { text, bytes: row.response_bytes, truncated: false },
    });
    expect(JSON.parse(bodies.request.text)).toEqual({ model: 'alpha ok', messages: [{ role: 'user', content: 'Bonjour, 世界 😀' }] });
    expect((await gateway.console('GET', `/logs/${id}`)).body.has_bodies).toBe(true);
    expect((await gateway.console('GET', '/logs/bodies?client_protocol=alpha')).body.items[0]).toEqual({
      ...bodies,
      request: undefined,
      response: undefined,
    });
    expect((await gateway.console('GET', '/logs/bodies?client_protocol=gamma')).body.items).toEqual([]);
  });

  test('a stream is kept as the caller saw it, translated or not', async () => {
    for (const model of ['alpha text:40', 'beta text:40']) {
      const { id, text } = await ask(model, 'hi', { more: { stream: true } });
      const { response, stream } = await stored(id);
      expect(text).toContain('[DONE]');
      expect(response.text).toBe(text.length <= 4_096 ? text : text.slice(0, response.text.length));
      expect([stream, response.bytes]).toEqual([true, Buffer.byteLength(text)]);
    }
  });

  test('a turn over a WebSocket and a call with its key in the address are kept like others, without the key', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, { headers: { authorization: `Bearer ${keptKey}` } });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'response.create', model: 'alpha ok', input: 'over a socket' }));
    const latest = async (protocol: string) => (await gateway.console('GET', `/logs/bodies?client_protocol=${protocol}`)).body.items[0];
    await until(async () => (await latest('alpha_response')) !== undefined, 'the turn');
    socket.close();
    const turn = await stored((await latest('alpha_response')).id);
    expect(JSON.parse(turn.request.text)).toMatchObject({ model: 'alpha ok', input: [{ role: 'user', content: 'over a socket' }] });
    expect(turn.response.text).toContain('response.completed');
    const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] });
    const headers = { 'content-type': 'application/json' };
    await (await fetch(`${gateway.url}/v1beta/models/gamma%20ok:streamGenerateContent?key=${keptKey}&alt=sse`, { method: 'POST', headers, body })).text();
    await until(async () => (await latest('gamma')) !== undefined, 'the call');
    expect((await latest('gamma')).path).toBe('/v1beta/models/gamma%20ok:streamGenerateContent?alt=sse');
  });

  test('each is cut at its cap; what images take is left out before', async () => {
    const { id, text } = await ask('alpha big:200000', [
      { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
      { type: 'text', text: 'What is this?' },
    ]);
    const { request, response } = await stored(id);
    expect(request).toMatchObject({ truncated: false });
    expect(JSON.parse(request.text).messages[0].content).toEqual([
      { type: 'image_url', image_url: { url: `data:image/png;base64,[base64: ${image.length} characters]` } },
      { type: 'text', text: 'What is this?' },
    ]);
    expect(request.bytes).toBeGreaterThan(image.length);
    // This upstream's big text is one long word.
    expect(response).toMatchObject({ truncated: false, bytes: Buffer.byteLength(text) });
    expect(response.text).toContain(`[base64: 200000 characters]`);
    const long = await ask('alpha ok', 'ein Wort '.repeat(2_000));
    const cut = await stored(long.id);
    expect(cut.request).toMatchObject({ truncated: true });
    expect(Buffer.byteLength(cut.request.text)).toBe(4_096);
  });

  test('of sound its type and size are kept, and of a form its fields and the names of its files', async () => {
    const sound = Buffer.from(Uint8Array.from({ length: 200_000 }, (_, at) => (at * 31) % 251));
    const headers = { authorization: `Bearer ${keptKey}` };
    media.answer = (response) => void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(sound);
    const speech = { model: 'voice', voice: 'alloy', input: 'Guten Tag' };
    const said = await fetch(`${gateway.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(speech),
    });
    expect(Buffer.from(await said.arrayBuffer()).equals(sound)).toBe(true);
    const spoken = await stored(said.headers.get('x-request-id')!);
    expect(JSON.parse(spoken.request.text)).toEqual(speech);
    expect(spoken.response).toEqual({ text: `{"content_type":"audio/mpeg","bytes":${sound.length}}`, bytes: sound.length, truncated: false });

    media.answer = answerJson({ text: 'Guten Tag.' });
    const form = new FormData();
    form.append('file', new Blob([sound], { type: 'audio/mp4' }), 'übung 1.m4a');
    form.append('model', 'voice');
    form.append('prompt', `my key ${keptKey}`);
    const heard = await fetch(`${gateway.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form });
    expect(await heard.json()).toEqual({ text: 'Guten Tag.' });
    const id = heard.headers.get('x-request-id')!;
    const { request, response } = await stored(id);
    expect(JSON.parse(request.text)).toEqual({
      file: { filename: 'übung 1.m4a', content_type: 'audio/mp4', bytes: sound.length },
      model: 'voice',
      prompt: 'my key [redacted]',
    });
    expect(request).toMatchObject({ truncated: false, bytes: (await gateway.row(id)).request_bytes });
    expect(JSON.parse(response.text)).toEqual({ text: 'Guten Tag.' });
  });

  test('errors too', async () => {
    const refused = await ask('alpha err:400', 'hi');
    expect((await stored(refused.id)).response.text).toBe(refused.text);
    const unknown = await ask('nobody', 'hi');
    expect(unknown.status).toBe(404);
    expect(await stored(unknown.id)).toMatchObject({ status: 404, model: null, response: { text: unknown.text } });
  });

  test('no credential is in them, wherever it stood', async () => {
    const content = [
      `my key ${importedKey} and the upstream's ${upstreamKey}`,
      `export TOKEN_SECRET=abcd1234 ${keptKey}`,
      JSON.stringify({ password: 'open "sesame"' }),
      // Its second half lies behind the cap.
      'x '.repeat(1_900),
      `${'y '.repeat(40)}${upstreamKey}`,
    ].join('\n');
    const { id, text } = await ask('alpha ok', content, { key: importedKey, more: { metadata: { api_key: 'qrs tuv' } } });
    expect(text).toContain('sesame');
    const bodies = await stored(id);
    const kept = JSON.stringify(bodies);
    for (const secret of [importedKey, upstreamKey, 'Apfelstrudel', 'abcd1234', keptKey, 'sesame', 'qrs tuv']) expect(kept).not.toContain(secret);
    expect(bodies.request.text).toContain("my key [redacted] and the upstream's [redacted]");
  });

  test('a rotated key is known at once', async () => {
    const fresh = 'Kaiserschmarrn.mit.Zwetschken';
    const changed = await gateway.console('PATCH', '/upstreams/beta', { api_keys: [{ key: fresh }] });
    expect(changed.status).toBe(200);
    await gateway.settle();
    const { id } = await ask('beta ok', `is it ${fresh}?`);
    const { request, response } = await stored(id);
    expect(`${request.text}${response.text}`).not.toContain('Kaiserschmarrn');
  });

  test('groups that do not want it keep nothing; a switch takes effect with the configuration', async () => {
    const { id } = await ask('alpha ok', 'a secret of mine', { key: gateway.key });
    await gateway.row(id);
    expect((await read(id)).status).toBe(404);
    expect((await gateway.console('GET', `/logs/${id}`)).body.has_bodies).toBe(false);
    await gateway.console('PATCH', '/key-groups/kept', { store_bodies: { enabled: false } });
    await gateway.settle();
    const off = await ask('alpha ok', 'quiet');
    await gateway.row(off.id);
    await gateway.console('PATCH', '/key-groups/kept', { store_bodies: { enabled: true, max_bytes: 4_096, ttl_hours: 2 } });
    await gateway.settle();
    const on = await ask('alpha ok', 'loud');
    await stored(on.id);
    expect((await read(off.id)).status).toBe(404);
    const wrong = await gateway.console('PATCH', '/key-groups/kept', { store_bodies: { enabled: true, max_bytes: 12, ttl_hours: 0 } });
    expect(wrong.status).toBe(422);
    expect(wrong.body.error.details.map(({ field }: { field: string }) => field).sort()).toEqual(['store_bodies.max_bytes', 'store_bodies.ttl_hours']);
  });

  test('admins read, which is audited; monitors do not', async () => {
    const { id } = await ask('alpha ok', 'hi');
    await stored(id);
    for (const path of ['/logs/bodies', `/logs/${id}/bodies`])
      expect((await gateway.console('GET', path, undefined, { authorization: `Bearer ${monitor}` })).status).toBe(403);
    const reveals = async () => (await gateway.console('GET', '/audit-logs?action=reveal&entity_type=key_group')).body.items;
    await until(async () => JSON.stringify(await reveals()).includes(id), 'the record');
    expect(await reveals()).toContainEqual(expect.objectContaining({ actor: 'secret_key', entity_id: 'kept', diff: { bodies_of: id } }));
  });

  test('while statistics are away, requests go on; bodies are dropped and counted', async () => {
    if (arrangement === 'embedded') return;
    await gateway.processes['stats']!.kill('SIGKILL');
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask('alpha slow:30+text:100', 'hi', { more: { stream: true } })));
    expect(answers.every(({ text }) => text.trimEnd().endsWith('data: [DONE]'))).toBe(true);
    await gateway.processes['stats']!.restart();
    await until(
      async () => /gateway_bodies_dropped_total\{[^}]*reason="[a-z_]+"[^}]*\} [1-9]/.test(await gateway.processes['edge']!.metrics()),
      'dropped bodies to be counted',
    );
    await until(async () => /gateway_bodies_held_bytes\{[^}]*\} 0\n/.test(await gateway.processes['edge']!.metrics()), 'all to be given back');
    for (const { id } of answers) await gateway.row(id);
    const { id } = await ask('alpha ok', 'again');
    await stored(id);
  });
});
